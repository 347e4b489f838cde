#pragma once

#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/runner.h"

namespace peruse::xnnpack {

// out = activation(x W^T + b), for operations that contain a linear layer.
Status Project(Runner& r, const Block& x, LinearId weight, Activation activation, const Block& out);

}  // namespace peruse::xnnpack
