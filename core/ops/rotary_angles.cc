#include "core/ops/rotary_angles.h"

#include <cmath>

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

float RotaryFrequency(const RotaryAngles& op, int32_t j, int32_t head_dim) {
  const double exponent = 2.0 * j / head_dim;
  return static_cast<float>(std::pow(static_cast<double>(op.theta), -exponent) / static_cast<double>(op.divisor));
}

void FillAngles(const RotaryAngles& op, std::span<const int32_t> positions, int32_t head_dim, float* out,
                int64_t stride) {
  const int32_t half = head_dim / 2;
  for (int32_t j = 0; j < half; ++j) {
    const float frequency = RotaryFrequency(op, j, head_dim);
    for (size_t t = 0; t < positions.size(); ++t) {
      const double angle = positions[t] * static_cast<double>(frequency);  // exact in double
      float* row = out + static_cast<int64_t>(t) * stride;
      row[j] = static_cast<float>(std::cos(angle));
      row[half + j] = static_cast<float>(std::sin(angle));
    }
  }
}

bool Fits(const RotaryAngles& op, const Shapes& s) {
  return s(op.positions).extent() == kTokenRows && s(op.out).rows == kTokenRows && s.cols(op.out) % 2 == 0 &&
         op.theta > 0 && op.divisor > 0;
}

void Compute(const RotaryAngles& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  const int32_t half = out.cols / 2;
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t j = 0; j < half; ++j) {
      const double angle =
          n(op.positions)[static_cast<size_t>(r)] * static_cast<double>(RotaryFrequency(op, j, out.cols));
      out(r, j) = std::cos(angle);
      out(r, half + j) = std::sin(angle);
    }
  }
}

// Does nothing: positions are integers and do not have gradients.
void Gradient(const RotaryAngles&, const Numbers&, const Gradients&) {}

// The operation computes in double precision and rounds once.
std::vector<double> Bound(const RotaryAngles&, Value result, const Numbers& n) {
  return ForEachCell(n(result), [](int32_t, int32_t) { return kEpsilon; });
}

}  // namespace peruse::ops
