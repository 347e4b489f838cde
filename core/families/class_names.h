// Class names of transformers: a family's name, then the head's: "BertForMaskedLM".
#pragma once

#include <optional>
#include <string_view>

#include "core/heads/heads.h"

namespace peruse {

// "ForMaskedLM" and the like. Empty if the suffix depends on the family, or does not exist.
std::string_view ClassSuffix(Head head);

// Returns the classifier of a class. These heads have equal tensor names, so that only the class distinguishes them. nullopt if the class
// has another head.
std::optional<Head> ClassifierOfClass(std::string_view class_name);

}  // namespace peruse
