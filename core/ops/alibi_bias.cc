#include "core/ops/alibi_bias.h"

#include <bit>
#include <cstdlib>

#include "core/base/elementary.h"
#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

std::vector<float> AlibiSlopes(int32_t heads) {
  const auto below = static_cast<int32_t>(std::bit_floor(static_cast<uint32_t>(heads)));
  std::vector<float> slopes;
  slopes.reserve(static_cast<size_t>(heads));
  for (int32_t h = 0; h < heads; ++h) {
    // The k-th of n slopes is 2^(-8 k / n).
    const double exponent = h < below ? 8.0 * (h + 1) / below : 8.0 * (2 * (h - below) + 1) / (2.0 * below);
    slopes.push_back(static_cast<float>(Power(2, -exponent)));
  }
  return slopes;
}

void FillBiases(const AlibiBias& op, int32_t rows, int32_t heads, float* out, int64_t stride) {
  const std::vector<float> slopes = AlibiSlopes(heads);
  for (int32_t r = 0; r < rows; ++r) {
    const auto distance = static_cast<float>(std::abs(r - op.center));
    for (int32_t h = 0; h < heads; ++h) out[r * stride + h] = -slopes[static_cast<size_t>(h)] * distance;
  }
}

bool Fits(const AlibiBias& op, const Shapes& s) {
  return s(op.out).rows.domain == Domain::kOne && op.center >= 0 && op.center < s(op.out).rows.factor;
}

void Compute(const AlibiBias& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  const std::vector<float> slopes = AlibiSlopes(out.cols);
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t h = 0; h < out.cols; ++h) {
      out(r, h) = -static_cast<double>(slopes[static_cast<size_t>(h)]) * std::abs(r - op.center);
    }
  }
}

// Does nothing: the table does not depend on weights.
void Gradient(const AlibiBias&, const Numbers&, const Gradients&) {}

// The only error is the rounding of one product.
std::vector<double> Bound(const AlibiBias&, Value result, const Numbers& n) {
  const Matrix& out = n(result);
  return ForEachCell(out, [&](int32_t r, int32_t h) { return kEpsilon * std::abs(out(r, h)); });
}

}  // namespace peruse::ops
