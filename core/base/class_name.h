// Names of transformers' classes, as `architectures` in config.json lists them.
#pragma once

#include <string_view>

namespace peruse {

// "BertForMaskedLM" and "BertModel" are classes of the family "Bert"; "BertGenerationEncoder" is not.
inline bool IsClassOf(std::string_view name, std::string_view family) {
  if (!name.starts_with(family)) return false;
  name.remove_prefix(family.size());
  return name == "Model" || name.starts_with("For");
}

}  // namespace peruse
