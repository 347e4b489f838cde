// Linear layers: the loop over panels and rows around the GEMM kernels.
#pragma once

#include <cstdint>

#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/packed_linear.h"
#include "core/backend/xnnpack/runner.h"

namespace peruse::xnnpack {

// Floats of workspace that RunLinear needs for so many rows.
int64_t LinearScratch(const PackedLinear& weight, int64_t rows, int32_t threads);

// out[r, group g] = activation(x[r, group g] W_g^T + b_g), where group g of x starts at column g * group_step. For a
// Linear that is weight.depth(); a convolution's overlapping rows have their groups elsewhere.
void RunLinear(const ThreadPool& pool, const Block& x, int64_t group_step, const PackedLinear& weight,
               Activation activation, float* scratch, const Block& out);

// out = activation(x W^T + b)
Status Project(Runner& r, const Block& x, LinearId weight, Activation activation, const Block& out);

}  // namespace peruse::xnnpack
