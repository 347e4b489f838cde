// Layer norm, for the operations that end in one.
#pragma once

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

// What is normalised: x + y; or the sum of a product's slices (linear.h), `rows` rows each, its bias, and y.
struct NormSum {
  Recording::View x;
  int32_t slices = 1;
  int32_t slice_bias = Recorder::kNoBuffer;
  const Recording::View* y = nullptr;  // if there is one
};
void Normalise(Recording& r, const NormSum& sum, const NormArgs& norm, Tensor out);

}  // namespace peruse::webgpu
