#pragma once

#include "core/cpu/block.h"
#include "core/cpu/thread_pool.h"

namespace peruse::cpu {

// `y` may have one row; `out` may be `x`.
void MultiplyBlocks(const ThreadPool& pool, const Block& x, const Block& y, const Block& out);

}  // namespace peruse::cpu
