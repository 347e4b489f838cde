// Elementwise products.
#pragma once

#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/thread_pool.h"

namespace peruse::xnnpack {

// out may be x itself; y may have one row.
void MultiplyBlocks(const ThreadPool& pool, const Block& x, const Block& y, const Block& out);

}  // namespace peruse::xnnpack
