// The index of a sharded checkpoint (model.safetensors.index.json, pytorch_model.bin.index.json).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace peruse {

struct ShardIndex {
  std::vector<std::string> tensors;  // in index order
  std::vector<std::string> files;    // unique and sorted plain names, which cannot leave the checkpoint's folder
};

Result<ShardIndex> ParseShardIndex(std::string_view json);

}  // namespace peruse
