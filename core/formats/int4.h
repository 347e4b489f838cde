// 4 bits: a row in groups of 32 values, each with a scale of its own: value = (q - 8) * scale, with q in 0...15. The value of largest
// magnitude gets q = 0, so a scale may be negative. A group takes 16 bytes: value k is in byte k / 2, in the low half if k is even. The
// last group of a row is filled with zeros. MatMulNBits of ONNX has the same layout (block_size 32, no zero points).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace peruse {

inline constexpr int64_t kInt4Group = 32;
inline constexpr int64_t kInt4GroupBytes = kInt4Group / 2;

constexpr int64_t Int4Groups(int64_t width) { return (width + kInt4Group - 1) / kInt4Group; }

// Linear layers: products sum int8 integers, as those of int8 weights do. The scales of a row's groups become one float32 scale of the row and
// an integer multiplier for each group. With the multipliers of 16 bits, an integer is the weight over the row's scale within 0.502.

// Linear layers with fewer inputs or outputs are int8: in models that small, 4 bits cost too much accuracy (docs/internals/precision.md).
inline constexpr int32_t kInt4LeastWidth = 1024;

// 8 * 16 * this is 127 * 2^15, so that no integer exceeds kWeightLevels.
inline constexpr int32_t kInt4LargestMultiplier = 127 << 8;

// Returns the integer of a weight, with `q` from -8 to 7: q * multiplier / 2^11, rounded.
constexpr int32_t Int4Integer(int32_t q, int32_t multiplier) { return (q * 16 * multiplier + (1 << 14)) >> 15; }

// Returns the scale of a row, and writes the multipliers of its groups. scale(g) returns the scale of group g. Each step is one float32
// operation, so that every machine gets the same integers.
template <typename Scale>
float Int4Multipliers(int64_t groups, Scale scale, int16_t* multipliers, int64_t step) {
  float largest = 0;
  for (int64_t g = 0; g < groups; ++g) largest = std::max(largest, std::fabs(scale(g)));
  const float inverse = static_cast<float>(kInt4LargestMultiplier) / largest;
  const bool has_inverse = std::isfinite(inverse);
  for (int64_t g = 0; g < groups; ++g) {
    multipliers[g * step] = has_inverse ? static_cast<int16_t>(std::nearbyint(scale(g) * inverse)) : int16_t{0};
  }
  return has_inverse ? largest * 8 / 127 : 0;
}

// Adds a row of out.size() values. scale(g) returns the scale of group g.
template <typename Scale>
void AddInt4Row(const uint8_t* payload, Scale scale, std::span<float> out) {
  for (size_t first = 0; first < out.size(); first += kInt4Group, payload += kInt4GroupBytes) {
    const float step = scale(first / kInt4Group);
    const size_t count = std::min<size_t>(kInt4Group, out.size() - first);
    for (size_t k = 0; k < count; ++k) {
      const int32_t q = (payload[k / 2] >> (k % 2 == 0 ? 0 : 4)) & 15;
      out[first + k] += step * static_cast<float>(q - 8);
    }
  }
}

}  // namespace peruse
