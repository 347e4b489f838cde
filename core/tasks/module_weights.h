// Reads the weights of a sentence-transformers module, a small file of its own, into float arrays.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/tasks/model_file.h"

namespace peruse {

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
