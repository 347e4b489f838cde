// The index of a checkpoint whose weights stand in several files (model.safetensors.index.json, pytorch_model.bin.index.json).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace peruse {

struct ShardIndex {
  std::vector<std::string> tensors;  // in the order of the index
  std::vector<std::string> files;  // each once, sorted: plain names, nothing that leads out of the checkpoint's folder
};

// Errors: kMalformedFile.
Result<ShardIndex> ParseShardIndex(std::string_view json);

}  // namespace peruse
