#pragma once

#include <cstdint>
#include <cstring>

namespace peruse::cpu {

// A matrix of any memory order.
struct Operand {
  const float* data;
  int64_t row_stride;
  int64_t col_stride;

  Operand Transposed() const { return {data, col_stride, row_stride}; }
};

// A row-major matrix, or a block of its columns. Null data means that it is absent.
struct Block {
  float* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  float* row(int64_t r) const { return data + r * stride; }
  explicit operator bool() const { return data != nullptr; }
  Operand operand() const { return {data, stride, 1}; }
  Block Columns(int64_t first, int64_t count) const { return {data + first, rows, count, stride}; }
  Block Rows(int64_t first, int64_t count) const { return {row(first), count, cols, stride}; }
};

inline void CopyBlock(const Block& x, const Block& out) {
  for (int64_t r = 0; r < x.rows; ++r) {
    std::memcpy(out.row(r), x.row(r), static_cast<size_t>(x.cols) * sizeof(float));
  }
}

// Elementwise operations give each thread at least this many rows.
inline constexpr int64_t kLeastRows = 16;

constexpr int64_t RoundUp(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace peruse::cpu
