// Operations on single elements of blocks.
#pragma once

#include "core/backend/activation.h"
#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/thread_pool.h"

namespace peruse::xnnpack {

void CopyBlock(const Block& x, const Block& out);
void MultiplyBlocks(const ThreadPool& pool, const Block& x, const Block& y, const Block& out);
// y may have one row, added to every row of x.
void AddBlocks(const ThreadPool& pool, const Block& x, const Block& y, const Block& out);
void ActivateBlock(const ThreadPool& pool, const Block& x, Activation activation, const Block& out);

}  // namespace peruse::xnnpack
