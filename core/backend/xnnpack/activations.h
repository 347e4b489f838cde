#pragma once

#include <cstdint>

#include "core/ops/activation.h"

namespace peruse::xnnpack {

// out[i] = activation(x[i]). `out` may be `x`.
void ActivateRow(const float* x, int64_t count, Activation activation, float* out);

}  // namespace peruse::xnnpack
