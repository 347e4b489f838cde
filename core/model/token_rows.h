// Finds the tensors of a checkpoint that have a row for each token of the vocabulary: token embeddings, and layers that predict tokens.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/weights/tensor_info.h"

namespace peruse {

// Returns for each tensor whether it has a row for each token. Errors: as in ReadFamily; kMalformedFile if two names mean the same tensor;
// kUnsupported if no program reads a tensor whose number of rows is the size of the vocabulary.
Result<std::vector<bool>> HaveTokenRows(std::string_view config_json, std::span<const TensorInfo> tensors);

}  // namespace peruse
