#include "core/backend/cpu/layer_norm.h"

#include <cmath>

#include "core/backend/cpu/runner.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

using namespace simd;

// out = x + y, or x if y is null. Returns the sum.
float AddAndSum(const float* x, const float* y, int64_t width, float* out) {
  Floats sums = hn::Zero(kTag);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    Floats value = Load(x + i);
    if (y != nullptr) value = hn::Add(value, Load(y + i));
    Store(value, out + i);
    sums = hn::Add(sums, value);
  }
  float sum = hn::ReduceSum(kTag, sums);
  for (; i < width; ++i) {
    out[i] = y != nullptr ? x[i] + y[i] : x[i];
    sum += out[i];
  }
  return sum;
}

// x -= mean. Returns the sum of squares; subtracting first keeps its precision if the mean is large.
float CentreAndSumSquares(float* x, int64_t width, float mean) {
  const Floats means = Set(mean);
  Floats sums = hn::Zero(kTag);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const Floats value = hn::Sub(Load(x + i), means);
    Store(value, x + i);
    sums = Madd(value, value, sums);
  }
  float sum = hn::ReduceSum(kTag, sums);
  for (; i < width; ++i) {
    x[i] -= mean;
    sum += x[i] * x[i];
  }
  return sum;
}

void AddNormRow(const float* x, const float* y, int64_t width, const NormWeights& norm, float* out) {
  const float mean = AddAndSum(x, y, width, out) / static_cast<float>(width);
  const float variance = CentreAndSumSquares(out, width, mean) / static_cast<float>(width);
  const float inverse = 1.0f / std::sqrt(variance + norm.eps);
  const Floats inverses = Set(inverse);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const Floats bias = norm.bias != nullptr ? Load(norm.bias + i) : hn::Zero(kTag);
    Store(Madd(hn::Mul(Load(out + i), inverses), Load(norm.weight + i), bias), out + i);
  }
  for (; i < width; ++i) {
    out[i] = out[i] * inverse * norm.weight[i] + (norm.bias != nullptr ? norm.bias[i] : 0.0f);
  }
}

}  // namespace

void AddNormRows(const ThreadPool& pool, const Block& x, const Block& y, const NormWeights& norm, const Block& out) {
  pool.ForRows(x.rows, 8, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      AddNormRow(x.row(r), y.data != nullptr ? y.row(r) : nullptr, x.cols, norm, out.row(r));
    }
  });
}

template <>
Status Run(Runner& r, const ops::LayerNorm& op) {
  AddNormRows(r.pool(), r.View(op.x), r.View(op.residual), r.View(op.norm), r.View(op.out));
  return OkStatus();
}

}  // namespace peruse::cpu
