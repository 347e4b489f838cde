// Linear layers over int8 weights: rows quantised, multiplied exactly (int8_gemm.h), and scaled back.
#pragma once

#include <cstdint>

#include "core/backend/xnnpack/linear.h"

namespace peruse::xnnpack {

// Floats of workspace for so many rows.
int64_t QuantizedLinearScratch(const PackedLinear& weight, int64_t rows, int32_t threads);

// RunLinear for kQ8. The sums are exact and each step from them to the result is one float32 operation, so without an
// activation function the result is the same, to the bit, in every build and on every machine.
void RunQuantizedLinear(const ThreadPool& pool, const Block& x, int64_t group_step, const PackedLinear& weight,
                        Activation activation, float* scratch, const Block& out);

}  // namespace peruse::xnnpack
