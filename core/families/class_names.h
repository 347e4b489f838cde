// Names of transformers' classes, for example "BertForMaskedLM": the family and the head.
#pragma once

#include <optional>
#include <string_view>

#include "core/heads/heads.h"

namespace peruse {

// Returns for example "ForMaskedLM". Empty if the suffix depends on the family or does not exist.
std::string_view ClassSuffix(Head head);

// Returns the classifier of a class, or nullopt. Classifiers have equal tensor names; only the class tells them apart.
std::optional<Head> ClassifierOfClass(std::string_view class_name);

}  // namespace peruse
