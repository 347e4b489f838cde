#pragma once

#include <optional>
#include <string_view>

#include "core/heads/heads.h"

namespace peruse {

// Returns the end of a class name, for example "ForMaskedLM". Empty if it depends on the family or does not exist.
std::string_view ClassSuffix(Head head);

// Returns the classifier of a class, or nullopt. All classifiers have the same tensor names, so only the class distinguishes them.
std::optional<Head> ClassifierOfClass(std::string_view class_name);

}  // namespace peruse
