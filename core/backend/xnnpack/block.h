#pragma once

#include <cstdint>
#include <cstring>

namespace peruse::xnnpack {

struct Block {
  float* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  float* row(int64_t r) const { return data + r * stride; }
};

inline void CopyBlock(const Block& x, const Block& out) {
  for (int64_t r = 0; r < x.rows; ++r) {
    std::memcpy(out.row(r), x.row(r), static_cast<size_t>(x.cols) * sizeof(float));
  }
}

// Elementwise operations give each thread at least this many rows.
inline constexpr int64_t kLeastRows = 16;

constexpr int64_t RoundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace peruse::xnnpack
