// How transformers names the classes of models: a family's name, then the head's: "BertForMaskedLM".
#pragma once

#include <optional>
#include <string_view>

#include "core/heads/heads.h"

namespace peruse {

// "ForMaskedLM". Empty if families name the head differently, or not at all.
std::string_view ClassSuffix(Head head);

// The classifier that a class has. These heads have tensors of the same names, so that only the class tells them apart. nullopt if the
// class has another head.
std::optional<Head> ClassifierOfClass(std::string_view class_name);

}  // namespace peruse
