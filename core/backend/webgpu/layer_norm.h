#pragma once

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

// Input of a norm: x + y; or the sum of a product's slices (linear.h), `rows` rows each, its bias, and y.
struct NormSum {
  Recording::View x;
  int32_t slices = 1;
  int32_t slice_bias = Recorder::kNoBuffer;
  const Recording::View* y = nullptr;  // optional
};
void Normalise(Recording& r, const NormSum& sum, const NormArgs& norm, Tensor out);

}  // namespace peruse::webgpu
