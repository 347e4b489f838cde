// Names of classes of transformers and other Python packages, which config.json has in architectures.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/heads/heads.h"

namespace peruse {

// Returns the end of a class name, for example "ForMaskedLM". Empty if it depends on the family or does not exist.
std::string_view ClassSuffix(Head head);

// What the name of a class says of its models.
struct ClassUse {
  Head head = Head::kNone;
  bool reads_labels = false;  // as ModelConfig
  bool reads_schema = false;

  bool operator==(const ClassUse&) const = default;
};

std::optional<ClassUse> UseOfClass(std::string_view class_name);

// Returns the name, or the end of the name, of the first class with such a use.
std::string_view ClassOf(const ClassUse& use);

// Returns the classifier of a class, or nullopt. All classifiers have the same tensor names, so only the class distinguishes them.
std::optional<Head> ClassifierOfClass(std::string_view class_name);

// Explains for popular types that Peruse does not support why, and what to use instead. The text follows the type in a message; it is ""
// for other types. `architecture` is architectures[0], or "".
std::string WhyRefused(std::string_view model_type, std::string_view architecture);

}  // namespace peruse
