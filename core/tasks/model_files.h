// Reads files of a model's folder by their paths, and the weights of a sentence-transformers module, a small file of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace peruse {

// Returns the content of a file, or nullopt if the folder lacks it.
using ReadModelFile = std::function<std::optional<std::string_view>(const std::string& path)>;

struct ModuleTensor {
  std::string name;
  std::vector<int64_t> shape;   // one or two dimensions
  std::vector<float>* values;   // receives the numbers, row-major
  std::string other_name = {};  // of the same tensor in other files; may be empty
};

// Reads the tensors from model.safetensors or pytorch_model.bin in `folder`, which may also be the path of the file itself. Errors: kNotFound
// without either file, kShapeMismatch, and those of the formats. Messages begin with the folder's name.
Status ReadModuleWeights(const ReadModelFile& read, const std::string& folder,
                         const std::vector<ModuleTensor>& tensors);

}  // namespace peruse
