// Vectorised activation functions over rows of floats.
#pragma once

#include <cstdint>

#include "core/ops/activation.h"

namespace peruse::xnnpack {

// out[i] = activation(x[i]); x and out may be the same.
void ActivateRow(const float* x, int64_t count, Activation activation, float* out);

}  // namespace peruse::xnnpack
