#include <cmath>

#include "core/backend/cpu/runner.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

using namespace simd;

float SumOfSquares(const float* x, int64_t width) {
  Floats sums = hn::Zero(kTag);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) sums = Madd(Load(x + i), Load(x + i), sums);
  float sum = hn::ReduceSum(kTag, sums);
  for (; i < width; ++i) sum += x[i] * x[i];
  return sum;
}

void NormBlock(const float* x, const float* weight, float offset, float eps, int64_t width, float* out) {
  const float inverse = 1.0f / std::sqrt(SumOfSquares(x, width) / static_cast<float>(width) + eps);
  const Floats inverses = Set(inverse), offsets = Set(offset);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    Store(hn::Mul(hn::Mul(Load(x + i), inverses), hn::Add(Load(weight + i), offsets)), out + i);
  }
  for (; i < width; ++i) out[i] = x[i] * inverse * (weight[i] + offset);
}

}  // namespace

template <>
Status Run(Runner& r, const ops::RmsNorm& op) {
  const Block x = r.View(op.x), weight = r.View(op.weight), out = r.View(op.out);
  r.pool().ForRows(x.rows, 8, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      for (int64_t c = 0; c < x.cols; c += weight.cols) {
        NormBlock(x.row(row) + c, weight.data, op.offset, op.eps, weight.cols, out.row(row) + c);
      }
    }
  });
  return OkStatus();
}

}  // namespace peruse::cpu
