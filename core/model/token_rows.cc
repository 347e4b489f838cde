#include "core/model/token_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/families/add_head.h"
#include "core/weights/tensor_names.h"

namespace peruse {
namespace {

using Names = std::map<std::string, bool, std::less<>>;

// Maps the name of each tensor that a program reads to whether its number of rows follows that of the vocabulary. Files may have a copy of
// tied embeddings, so the programs of both settings count.
Names RowsOfTokens(const Family& family, ModelConfig config) {
  Names result;
  for (const bool tied : {false, true}) {
    config.tie_word_embeddings = tied;
    config.vocab_size = std::max(config.vocab_size, 1);
    const std::vector<Parameters> own = ParametersOfHeads(family, config, Precision::kF32);
    ++config.vocab_size;
    const std::vector<Parameters> larger = ParametersOfHeads(family, config, Precision::kF32);
    for (size_t program = 0; program < own.size(); ++program) {
      for (size_t i = 0; i < own[program].tensors.size(); ++i) {
        const ParameterTensor& tensor = own[program].tensors[i];
        const bool follows = tensor.shape != larger[program].tensors[i].shape;
        for (const std::string& name : tensor.names) result[name] |= follows;
      }
    }
  }
  return result;
}

}  // namespace

Result<std::vector<bool>> HaveTokenRows(std::string_view config_json, std::span<const TensorInfo> tensors) {
  PERUSE_ASSIGN_OR_RETURN(const ConfiguredFamily family, ReadFamily(config_json));
  const Names rows = RowsOfTokens(*family.family, family.config);
  TensorNames names(family.family->prefixes());
  std::vector<std::string_view> written;
  for (const TensorInfo& tensor : tensors) written.push_back(tensor.name);
  PERUSE_RETURN_IF_ERROR(names.Resolve(written));
  std::vector<bool> result;
  for (const TensorInfo& tensor : tensors) {
    std::string name = names.Normalise(tensor.name);
    auto found = rows.find(name);
    if (found == rows.end() && name.ends_with(kScaleSuffix)) {
      name.resize(name.size() - kScaleSuffix.size());
      found = rows.find(name);
    }
    if (found == rows.end() && !tensor.shape.empty() && tensor.shape[0] == family.config.vocab_size) {
      return Unsupported("the tensor \"" + tensor.name + "\" has as many rows as the vocabulary (" +
                         std::to_string(tensor.shape[0]) +
                         "), but no layer reads it that says whether they belong to tokens");
    }
    result.push_back(found != rows.end() && found->second);
  }
  return result;
}

}  // namespace peruse
