#pragma once

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

inline Constants PairConstants(bool multiply) { return {{"MULTIPLY", multiply ? 1.0f : 0.0f}}; }

// out = x + y or activation(x) * y elementwise. y may have only one row.
struct Pair {
  Value x, y, out;
  bool multiply = false;
  Activation activation = Activation::kNone;  // only for products
};
void RecordPair(Recording& r, const Pair& pair);

}  // namespace peruse::webgpu
