#include "core/weights/low_rank.h"

#include <algorithm>

#include "core/cpu/gemm.h"
#include "core/cpu/simd.h"

namespace peruse {
namespace {

constexpr int64_t kRows = 32;      // rows per block, so that their part of the left factor stays in the L1 cache
constexpr int64_t kColumns = 128;  // columns per task of a thread
constexpr auto kFloat = static_cast<int64_t>(sizeof(float));

float* FloatsOf(const cpu::AlignedBytes& bytes) { return reinterpret_cast<float*>(bytes.get()); }

}  // namespace

Result<LowRankSum> LowRankSum::Create(std::span<const float> right, int64_t rank, int64_t cols, float scale,
                                      const cpu::ThreadPool* pool) {
  LowRankSum sum(rank, cols, scale, pool);
  sum.right_ = cpu::AllocateAligned(cpu::PackedFloats(rank, cols) * kFloat);
  sum.left_ = cpu::AllocateAligned(kRows * rank * kFloat);
  if (!sum.right_ || !sum.left_) return OutOfMemory("no memory for the factors of an adapter");
  cpu::PackMatrix(right.data(), cols, rank, cols, FloatsOf(sum.right_));
  return sum;
}

void LowRankSum::Add(const float* rows, const float* left, int64_t count, float* out) {
  for (int64_t first = 0; first < count; first += kRows) {
    const int64_t height = std::min(kRows, count - first);
    std::copy_n(left + first * rank_, height * rank_, FloatsOf(left_));
    const auto task = [&](int32_t, int64_t index) {
      const int64_t column = index * kColumns;
      AddColumns(rows + first * cols_, height, column, std::min(kColumns, cols_ - column), out + first * cols_);
    };
    const int64_t tasks = (cols_ + kColumns - 1) / kColumns;
    if (pool_ != nullptr) {
      pool_->For(tasks, task);
    } else {
      for (int64_t i = 0; i < tasks; ++i) task(0, i);
    }
  }
}

void LowRankSum::AddColumns(const float* rows, int64_t count, int64_t first, int64_t columns, float* out) const {
  const int64_t width = cpu::TileCols();
  for (int64_t column = first; column < first + columns; column += width) {
    const int64_t n = std::min(width, first + columns - column);
    cpu::Gemm(FloatsOf(left_), rank_, count, rank_, FloatsOf(right_) + cpu::PanelOffset(rank_, column), n, out + column,
              cols_);
  }
  for (int64_t r = 0; r < count; ++r) {
    float* const sums = out + r * cols_ + first;
    simd::Map2(rows + r * cols_ + first, sums, sums, columns,
               [this](simd::Floats row, simd::Floats sum) { return row + simd::Set(scale_) * sum; });
  }
}

}  // namespace peruse
