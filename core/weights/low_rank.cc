#include "core/weights/low_rank.h"

#include <algorithm>

#include "core/base/float4.h"

namespace peruse {
namespace {

constexpr size_t kPanel = 8;  // columns of a tile: two vectors
constexpr size_t kRows = 4;   // rows of a tile, whose sums stay in registers

// Adds to kCount rows, of which the first `cols` columns of a panel exist.
template <size_t kCount>
[[gnu::noinline]] void AddTile(const float* panel, size_t rank, const float* left, float scale, float* rows,
                               size_t stride, size_t cols) {
  Float4 sums[kCount][2] = {};
  for (size_t k = 0; k < rank; ++k) {
    const Float4 low = LoadFloat4(panel + k * kPanel), high = LoadFloat4(panel + k * kPanel + 4);
    for (size_t r = 0; r < kCount; ++r) {
      const float factor = left[r * rank + k];
      sums[r][0] += factor * low;
      sums[r][1] += factor * high;
    }
  }
  for (size_t r = 0; r < kCount; ++r) {
    float* const row = rows + r * stride;
    if (cols == kPanel) {
      StoreFloat4(LoadFloat4(row) + scale * sums[r][0], row);
      StoreFloat4(LoadFloat4(row + 4) + scale * sums[r][1], row + 4);
      continue;
    }
    for (size_t c = 0; c < cols; ++c) row[c] += scale * sums[r][c / 4][c % 4];
  }
}

}  // namespace

void LowRankSum::AddTo(float* rows, const float* left, size_t count) {
  panel_.resize(rank_ * kPanel);
  for (size_t column = 0; column < cols_; column += kPanel) {
    const size_t cols = std::min(kPanel, cols_ - column);
    for (size_t k = 0; k < rank_; ++k) std::copy_n(right_ + k * cols_ + column, cols, &panel_[k * kPanel]);
    size_t row = 0;
    for (; row + kRows <= count; row += kRows) {
      AddTile<kRows>(panel_.data(), rank_, left + row * rank_, scale_, rows + row * cols_ + column, cols_, cols);
    }
    for (; row < count; ++row) {
      AddTile<1>(panel_.data(), rank_, left + row * rank_, scale_, rows + row * cols_ + column, cols_, cols);
    }
  }
}

}  // namespace peruse
