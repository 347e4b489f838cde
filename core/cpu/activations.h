#pragma once

#include <cstdint>

#include "core/ops/activation.h"

namespace peruse::cpu {

void ActivateRow(const float* x, int64_t count, Activation activation, float* out);  // `out` may be `x`

// Replaces a row by softmax(scale row). Precondition: scale >= 0.
void SoftmaxRow(float* row, int64_t count, float scale);
// Computes the softmax of each group of `size` consecutive numbers. `out` may be `x`.
void SoftmaxGroups(const float* x, int64_t groups, int64_t size, float* out);

}  // namespace peruse::cpu
