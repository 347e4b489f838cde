#pragma once

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

inline Constants PairConstants(bool multiply) { return {{"MULTIPLY", multiply ? 1.0f : 0.0f}}; }

// out = x + y or x * y elementwise. y may have only one row.
void RecordPair(Recording& r, Value x, Value y, bool multiply, Value out);

}  // namespace peruse::webgpu
