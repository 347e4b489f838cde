#include "core/weights/low_rank.h"

#include <algorithm>

#include "core/cpu/gemm.h"

namespace peruse {
namespace {

constexpr int64_t kRows = 32;  // rows per block, so that their part of the left factor stays in the L1 cache
constexpr auto kFloat = static_cast<int64_t>(sizeof(float));

float* FloatsOf(const cpu::AlignedBytes& bytes) { return reinterpret_cast<float*>(bytes.get()); }

}  // namespace

Result<LowRankSum> LowRankSum::Create(std::span<const float> right, int64_t rank, int64_t cols, float scale) {
  LowRankSum sum(rank, cols, scale);
  sum.right_ = cpu::AllocateAligned(cpu::PackedFloats(rank, cols) * kFloat);
  sum.left_ = cpu::AllocateAligned(kRows * rank * kFloat);
  sum.tile_ = cpu::AllocateAligned(kRows * cpu::TileCols() * kFloat);
  if (!sum.right_ || !sum.left_ || !sum.tile_) return OutOfMemory("no memory for the factors of an adapter");
  cpu::PackMatrix(right.data(), cols, rank, cols, FloatsOf(sum.right_));
  return sum;
}

void LowRankSum::AddTo(float* rows, const float* left, int64_t count) {
  const int64_t width = cpu::TileCols();
  float* const tile = FloatsOf(tile_);
  for (int64_t first = 0; first < count; first += kRows) {
    const int64_t height = std::min(kRows, count - first);
    std::copy_n(left + first * rank_, height * rank_, FloatsOf(left_));
    for (int64_t column = 0; column < cols_; column += width) {
      const int64_t n = std::min(width, cols_ - column);
      const float* const panel = FloatsOf(right_) + cpu::PanelOffset(rank_, column);
      cpu::Gemm(FloatsOf(left_), rank_, height, rank_, panel, n, tile, width);
      for (int64_t r = 0; r < height; ++r) {
        float* const row = rows + (first + r) * cols_ + column;
        for (int64_t c = 0; c < n; ++c) row[c] += scale_ * tile[r * width + c];
      }
    }
  }
}

}  // namespace peruse
