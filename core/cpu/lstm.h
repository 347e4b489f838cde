#pragma once

#include "core/cpu/block.h"

namespace peruse::cpu {

// One step of an LSTM of `width` cells. x, bias: [4 * width] in the order i, f, g, o. recurrent: [width, 4 * width]. h is the last step's
// result, or null at the first step. Stores the gates in `gates` [4 * width], replaces the states c, and stores the result in `out`.
void LstmStep(const float* x, const float* bias, const Block& recurrent, const float* h, float* gates, const float* c,
              float* next_c, float* out);

}  // namespace peruse::cpu
