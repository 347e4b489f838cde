#include "core/cpu/low_rank.h"

#include <algorithm>

#include "core/cpu/block.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

using namespace simd;

// A tile of sums fills registers: 2 rows of 4 vectors. Adapters have few columns in `left`, so calls and passes over the rows would cost
// a fifth of a general product's time.
constexpr int64_t kVectors = 4;
constexpr int64_t kWidth = kVectors * kLanes;
constexpr int64_t kColumns = 128;  // columns per task of a thread, a multiple of kWidth

// Two rows of a tile; equal for the last row of an odd number.
template <typename T>
struct Pair {
  T* first;
  T* second;
};

// out = rows + scale * left panel, with left [2, rank], panel [rank, kWidth] and out [2, kWidth], which may be `rows`
[[gnu::noinline]] void AddTile(Pair<const float> left, int64_t rank, const float* panel, float scale,
                               Pair<const float> rows, Pair<float> out) {
  Floats first[kVectors], second[kVectors];
  std::fill_n(first, kVectors, hn::Zero(kTag));
  std::fill_n(second, kVectors, hn::Zero(kTag));
#pragma clang loop unroll(disable)
  do {
    const Floats right[] = {Load(panel), Load(panel + kLanes), Load(panel + 2 * kLanes), Load(panel + 3 * kLanes)};
    const Floats one = Set(*left.first++);
    for (int v = 0; v < kVectors; ++v) first[v] = Madd(one, right[v], first[v]);
    const Floats other = Set(*left.second++);
    for (int v = 0; v < kVectors; ++v) second[v] = Madd(other, right[v], second[v]);
    panel += kWidth;
  } while (--rank != 0);
  const auto add = [scale](const Floats* sums, const float* row, float* to) {
    for (int64_t v = 0; v < kVectors; ++v) {
      Store(hn::Add(Load(row + v * kLanes), hn::Mul(Set(scale), sums[v])), to + v * kLanes);
    }
  };
  add(first, rows.first, out.first);
  add(second, rows.second, out.second);
}

}  // namespace

Result<LowRankSum> LowRankSum::Create(std::span<const float> right, int64_t rank, int64_t cols, float scale,
                                      const ThreadPool* pool) {
  LowRankSum sum(rank, cols, scale, pool);
  sum.right_ = AllocateAligned(RoundUp(cols, kWidth) * rank * static_cast<int64_t>(sizeof(float)));
  if (!sum.right_) return OutOfMemory("no memory for the factors of an adapter");
  auto* packed = reinterpret_cast<float*>(sum.right_.get());
  for (int64_t column = 0; column < cols; column += kWidth) {
    const int64_t n = std::min(kWidth, cols - column);
    for (int64_t k = 0; k < rank; ++k, packed += kWidth) {
      Copy(right.data() + k * cols + column, n, packed);
      std::fill(packed + n, packed + kWidth, 0.0f);
    }
  }
  return sum;
}

void LowRankSum::Add(const float* rows, const float* left, int64_t count, float* out) const {
  const auto task = [&](int32_t, int64_t index) {
    const int64_t end = std::min(cols_, (index + 1) * kColumns);
    for (int64_t column = index * kColumns; column < end; column += kWidth) {
      AddPanel(rows, left, count, column, out);
    }
  };
  const int64_t tasks = (cols_ + kColumns - 1) / kColumns;
  if (pool_ != nullptr) {
    pool_->For(tasks, task);
  } else {
    for (int64_t i = 0; i < tasks; ++i) task(0, i);
  }
}

// Computes a last row of an odd number twice, and the last columns in a buffer of whole vectors.
void LowRankSum::AddPanel(const float* rows, const float* left, int64_t count, int64_t column, float* out) const {
  const float* const panel = reinterpret_cast<const float*>(right_.get()) + column * rank_;
  const int64_t n = std::min(kWidth, cols_ - column);
  rows += column;
  out += column;
  for (int64_t r = 0; r < count; r += 2) {
    const int64_t other = std::min(r + 1, count - 1);
    const Pair<const float> factors = {left + r * rank_, left + other * rank_};
    const Pair<const float> from = {rows + r * cols_, rows + other * cols_};
    const Pair<float> to = {out + r * cols_, out + other * cols_};
    if (n == kWidth) {
      AddTile(factors, rank_, panel, scale_, from, to);
      continue;
    }
    float first[kWidth] = {}, second[kWidth] = {};
    Copy(from.first, n, first);
    Copy(from.second, n, second);
    AddTile(factors, rank_, panel, scale_, {first, second}, {first, second});
    Copy(first, n, to.first);
    Copy(second, n, to.second);
  }
}

}  // namespace peruse::cpu
