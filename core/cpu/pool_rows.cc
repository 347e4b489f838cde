#include "core/cpu/pool_rows.h"

#include <algorithm>
#include <cmath>

#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

using namespace simd;
using Kind = ops::PoolRows::Kind;

void Take(Kind kind, const float* row, int64_t width, float* out) {
  Map2(row, out, out, width, [&](Floats value, Floats so_far) {
    if (TakesSizes(kind)) value = hn::Abs(value);
    if (kind == Kind::kRootMeanSquare) return Madd(value, value, so_far);
    return TakesLargest(kind) ? hn::Max(value, so_far) : hn::Add(value, so_far);
  });
}

void Finish(Kind kind, int32_t count, int64_t width, float* out) {
  if (kind == Kind::kSum || TakesLargest(kind)) return;
  const float inverse = 1.0f / static_cast<float>(count);
  const bool root = kind == Kind::kRootMeanSquare;
  Map(out, out, width, [&](Floats sum) {
    const Floats mean = hn::Mul(sum, Set(inverse));
    return root ? hn::Sqrt(mean) : mean;
  });
}

}  // namespace

void PoolRows(const ops::PoolRows& op, std::span<const int32_t> begins, std::span<const int32_t> counts, const Block& x,
              int64_t first, int64_t end, const Block& out) {
  const int64_t blocks = x.cols / out.cols;
  // Starts at -infinity, because a maximum may be negative.
  const float start = op.kind == Kind::kMax ? -HUGE_VALF : 0.0f;
  for (int64_t i = first; i < end; ++i) {
    const int32_t count = counts[static_cast<size_t>(i)];
    std::fill_n(out.row(i), out.cols, count == 0 ? 0.0f : start);
    for (int64_t j = 0; j < count; ++j) {
      const int64_t source = begins[static_cast<size_t>(i)] + j * op.stride;
      Take(op.kind, x.row(source / blocks) + source % blocks * out.cols, out.cols, out.row(i));
    }
    if (count > 0) Finish(op.kind, count, out.cols, out.row(i));
  }
}

}  // namespace peruse::cpu
