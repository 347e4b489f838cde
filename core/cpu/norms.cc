#include "core/cpu/norms.h"

#include <algorithm>
#include <cmath>

#include "core/cpu/dot.h"
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

float Sum(const float* x, int64_t width) {
  Floats sums = hn::Zero(kTag);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) sums = hn::Add(sums, Load(x + i));
  float sum = hn::ReduceSum(kTag, sums);
  for (; i < width; ++i) sum += x[i];
  return sum;
}

// Subtracts the mean before it squares, which keeps the sum's precision if the mean is large.
Moments MomentsOf(const float* x, float sum, int64_t width, float eps) {
  const float mean = sum / static_cast<float>(width);
  const Floats means = Set(mean);
  Floats sums = hn::Zero(kTag);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const Floats centred = hn::Sub(Load(x + i), means);
    sums = Madd(centred, centred, sums);
  }
  float squares = hn::ReduceSum(kTag, sums);
  for (; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, 1.0f / std::sqrt(squares / static_cast<float>(width) + eps)};
}

}  // namespace

Moments MomentsOf(const float* x, int64_t width, float eps) { return MomentsOf(x, Sum(x, width), width, eps); }

void AddNormRow(const float* x, const float* y, int64_t width, const NormWeights& norm, float* out) {
  const Moments moments = MomentsOf(out, AddAndSum(x, y, width, out), width, norm.eps);
  const Floats means = Set(moments.mean), inverses = Set(moments.inverse);
  int64_t i = 0;
  for (; i + kLanes <= width; i += kLanes) {
    const Floats bias = norm.bias != nullptr ? Load(norm.bias + i) : hn::Zero(kTag);
    Store(Madd(hn::Mul(hn::Sub(Load(out + i), means), inverses), Load(norm.weight + i), bias), out + i);
  }
  for (; i < width; ++i) {
    out[i] = (out[i] - moments.mean) * moments.inverse * norm.weight[i] + (norm.bias != nullptr ? norm.bias[i] : 0.0f);
  }
}

float InverseRms(const float* x, int64_t width, float eps) {
  return 1.0f / std::sqrt(Dot(x, x, width) / static_cast<float>(width) + eps);
}

void RmsNormRow(const float* x, const float* weight, float offset, float eps, int64_t width, float* out) {
  const Floats inverse = Set(InverseRms(x, width, eps)), offsets = Set(offset);
  Map2(x, weight, out, width,
       [&](Floats value, Floats factor) { return hn::Mul(hn::Mul(value, inverse), hn::Add(factor, offsets)); });
}

void NormalizeRow(const float* x, int64_t width, float eps, float* out) {
  const Floats length = Set(std::max(std::sqrt(Dot(x, x, width)), eps));
  Map(x, out, width, [&](Floats v) { return hn::Div(v, length); });
}

}  // namespace peruse::cpu
