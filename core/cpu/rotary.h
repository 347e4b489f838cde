#pragma once

#include <cstdint>

namespace peruse::cpu {

// Rotates the heads of a row, which have head_dim columns each. angles: head_dim / 2 cosines, then as many sines. `out` may not be x.
void RotateRow(const float* x, int64_t width, const float* angles, int64_t head_dim, float* out);

}  // namespace peruse::cpu
