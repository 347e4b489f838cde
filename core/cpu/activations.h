#pragma once

#include <cstdint>

#include "core/ops/activation.h"

namespace peruse::cpu {

void ActivateRow(const float* x, int64_t count, Activation activation, float* out);  // `out` may be `x`

}  // namespace peruse::cpu
