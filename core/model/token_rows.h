// Finds the tensors of a checkpoint that have a row for each token of the vocabulary: token embeddings, and layers that predict tokens.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/weights/tensor_info.h"

namespace peruse {

// Returns whether each tensor has such rows. Errors: those of ReadFamily; kMalformedFile if two names mean the same tensor; kUnsupported if a
// tensor has as many rows as the vocabulary, but no program reads it.
Result<std::vector<bool>> HaveTokenRows(std::string_view config_json, std::span<const TensorInfo> tensors);

}  // namespace peruse
