#pragma once

#include <cstdint>

#include "core/ops/activation.h"

namespace peruse::xnnpack {

void ActivateRow(const float* x, int64_t count, Activation activation, float* out);  // `out` may be `x`

}  // namespace peruse::xnnpack
