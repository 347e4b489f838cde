#pragma once

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

// Input of a layer norm: x + y. If a product was split into slices (linear.h), x contains them, `rows` rows each, and the sum includes the
// product's bias.
struct NormSum {
  Recording::View x;
  int32_t slices = 1;
  int32_t slice_bias = Recorder::kNoBuffer;
  const Recording::View* y = nullptr;  // optional
};
void ExpectNorm(Recording& r);
void Normalise(Recording& r, const NormSum& sum, const NormArgs& norm, Tensor out);

}  // namespace peruse::webgpu
