#pragma once

#include "core/cpu/block.h"
#include "core/cpu/norms.h"
#include "core/cpu/thread_pool.h"

namespace peruse::cpu {

// out = norm(x + y). y.data may be null; `out` may be x.
void AddNormRows(const ThreadPool& pool, const Block& x, const Block& y, const NormWeights& norm, const Block& out);

}  // namespace peruse::cpu
