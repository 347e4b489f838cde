#include "core/ops/rotary_angles.h"

#include <algorithm>
#include <cmath>

#include "core/base/elementary.h"
#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

using Kind = RotaryScaling::Kind;

// Returns the share of f_j / factor in the scaled frequency.
double Share(const RotaryScaling& scaling, int32_t j, double frequency) {
  const double low = double{scaling.low}, high = double{scaling.high};
  if (scaling.kind == Kind::kLinear) return 1;
  if (scaling.kind == Kind::kYarn) return std::clamp((j - low) / (high - low), 0.0, 1.0);
  if (scaling.kind != Kind::kLlama3) return 0;
  // In transformers, the share is linear in the number of waves in the original length.
  const double wavelength = 2 * M_PI / frequency;
  return 1 - std::clamp((1 / wavelength - 1 / low) / (1 / high - 1 / low), 0.0, 1.0);
}

// Returns the end of the text that contains the token `first`: positions rise by one from token to token of a text.
size_t TextEnd(std::span<const int32_t> positions, size_t first) {
  size_t end = first + 1;
  while (end < positions.size() && positions[end] > positions[end - 1]) ++end;
  return end;
}

}  // namespace

float RotaryFrequency(const RotaryAngles& op, int32_t j, int32_t head_dim, int32_t length) {
  const RotaryScaling& scaling = op.scaling;
  const double exponent = 2.0 * j / head_dim, factor = double{scaling.factor};
  double theta = double{op.theta};
  if (scaling.kind == Kind::kDynamic && static_cast<double>(length) > double{scaling.original}) {
    const double stretch = factor * length / double{scaling.original} - (factor - 1);
    theta *= Power(stretch, head_dim / (head_dim - 2.0));
  }
  const double frequency = Power(theta, -exponent);
  const double share = Share(scaling, j, frequency);
  return static_cast<float>(share == 1 ? frequency / factor : frequency * (1 - share) + frequency / factor * share);
}

void FillAngles(const RotaryAngles& op, std::span<const int32_t> positions, int32_t head_dim, float* out,
                int64_t stride) {
  const int32_t half = head_dim / 2;
  const auto amplitude = static_cast<double>(op.scaling.amplitude);
  for (size_t first = 0, end; first < positions.size(); first = end) {
    end = op.scaling.kind == Kind::kDynamic ? TextEnd(positions, first) : positions.size();
    for (int32_t j = 0; j < half; ++j) {
      const float frequency = RotaryFrequency(op, j, head_dim, positions[end - 1] + 1);
      for (size_t t = first; t < end; ++t) {
        const double angle = positions[t] * static_cast<double>(frequency);  // exact in double
        float* row = out + static_cast<int64_t>(t) * stride;
        const Direction direction = DirectionOf(angle);
        row[j] = static_cast<float>(direction.cosine * amplitude);
        row[half + j] = static_cast<float>(direction.sine * amplitude);
      }
    }
  }
}

bool Fits(const RotaryAngles& op, const Shapes& s) {
  const RotaryScaling& scaling = op.scaling;
  const bool ranged = scaling.kind != Kind::kLlama3 || (scaling.high > 0 && scaling.low > scaling.high);
  return s(op.positions).extent() == kTokenRows && s(op.out).rows == kTokenRows && s.cols(op.out) % 2 == 0 &&
         op.theta > 0 && scaling.factor > 0 && ranged && (scaling.kind != Kind::kYarn || scaling.high > scaling.low) &&
         (scaling.kind != Kind::kDynamic || (scaling.original > 0 && s.cols(op.out) > 2));
}

void Compute(const RotaryAngles& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  const int32_t half = out.cols / 2;
  const std::span<const int32_t> positions = n(op.positions);
  size_t end = 0;
  for (int32_t r = 0; r < out.rows; ++r) {
    if (static_cast<size_t>(r) >= end) end = TextEnd(positions, static_cast<size_t>(r));
    for (int32_t j = 0; j < half; ++j) {
      const float frequency = RotaryFrequency(op, j, out.cols, positions[end - 1] + 1);
      const double angle = positions[static_cast<size_t>(r)] * static_cast<double>(frequency);
      out(r, j) = std::cos(angle) * static_cast<double>(op.scaling.amplitude);
      out(r, half + j) = std::sin(angle) * static_cast<double>(op.scaling.amplitude);
    }
  }
}

// Does nothing: positions are integers and do not have gradients.
void Gradient(const RotaryAngles&, const Numbers&, const Gradients&) {}

// The operation computes in double precision and rounds once.
std::vector<double> Bound(const RotaryAngles& op, Value result, const Numbers& n) {
  const double size = std::max(1.0, static_cast<double>(op.scaling.amplitude));
  return ForEachCell(n(result), [&](int32_t, int32_t) { return kEpsilon * size; });
}

}  // namespace peruse::ops
