// Norms of rows: LayerNorm, RMSNorm, and length 1.
#pragma once

#include <cstdint>

namespace peruse::cpu {

struct NormWeights {
  const float* weight;
  const float* bias;  // null means 0
  float eps;
};

struct Moments {
  float mean;
  float inverse;  // 1 / deviation
};
Moments MomentsOf(const float* x, int64_t width, float eps);

// out = LayerNorm(x + y). y may be null; `out` may be x.
void AddNormRow(const float* x, const float* y, int64_t width, const NormWeights& norm, float* out);

// Returns 1 / root mean square.
float InverseRms(const float* x, int64_t width, float eps);
// out = x / root mean square * (weight + offset)
void RmsNormRow(const float* x, const float* weight, float offset, float eps, int64_t width, float* out);

// Divides a row by its length, or by eps if that is larger.
void NormalizeRow(const float* x, int64_t width, float eps, float* out);

}  // namespace peruse::cpu
