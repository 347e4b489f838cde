// Layer norm, for the operations that end in one.
#pragma once

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

// out = norm(x), or norm(x + y)
void Normalise(Recording& r, const Recording::View& x, const Recording::View* y, const NormArgs& norm, Tensor out);

}  // namespace peruse::webgpu
