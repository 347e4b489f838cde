#pragma once

#include <cstdint>
#include <span>

#include "core/cpu/block.h"
#include "core/ops/pool_rows.h"

namespace peruse::cpu {

// Computes rows [first, end) of the result.
void PoolRows(const ops::PoolRows& op, std::span<const int32_t> begins, std::span<const int32_t> counts, const Block& x,
              int64_t first, int64_t end, const Block& out);

}  // namespace peruse::cpu
