#pragma once

#include <string_view>

namespace peruse {

// Whether transformers' class `name` belongs to the family: "BertForMaskedLM" does to "Bert", "BertGenerationEncoder" does not.
inline bool IsClassOf(std::string_view name, std::string_view family) {
  if (!name.starts_with(family)) return false;
  name.remove_prefix(family.size());
  return name == "Model" || name.starts_with("For");
}

}  // namespace peruse
