// Where a tensor's values are, as the kernels see it.
#pragma once

#include <cstdint>

namespace peruse::xnnpack {

// A row-major matrix whose rows are `stride` floats apart.
struct Block {
  float* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  float* row(int64_t r) const { return data + r * stride; }
};

constexpr int64_t RoundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace peruse::xnnpack
