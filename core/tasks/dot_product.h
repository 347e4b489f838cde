#pragma once

#include <cstddef>

#include "core/base/float4.h"

namespace peruse {

inline float Product(const float* a, const float* b, size_t count) {
  Float4 sums[4] = {};
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (size_t lane = 0; lane < 4; ++lane) {
      sums[lane] += LoadFloat4(a + i + 4 * lane) * LoadFloat4(b + i + 4 * lane);
    }
  }
  const Float4 sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float product = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  for (; i < count; ++i) product += a[i] * b[i];
  return product;
}

}  // namespace peruse
