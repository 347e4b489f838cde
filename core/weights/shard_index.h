#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace peruse {

struct ShardIndex {
  std::vector<std::string> tensors;  // in index order
  std::vector<std::string> files;    // unique, sorted and plain names, which cannot leave the checkpoint's folder
};

Result<ShardIndex> ParseShardIndex(std::string_view json);

}  // namespace peruse
