#pragma once

#include "core/backend/cpu/runner.h"
#include "core/cpu/block.h"

namespace peruse::cpu {

// out = activation(x W^T + b), for operations that contain a linear layer.
// first_output: see PackedLinear::Run.
Status Project(Runner& r, const Block& x, LinearId weight, Activation activation, const Block& out,
               int64_t first_output = 0);

}  // namespace peruse::cpu
