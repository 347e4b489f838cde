#pragma once

#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/thread_pool.h"

namespace peruse::xnnpack {

// `y` may have one row; `out` may be `x`.
void MultiplyBlocks(const ThreadPool& pool, const Block& x, const Block& y, const Block& out);

}  // namespace peruse::xnnpack
