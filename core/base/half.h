// Exact conversions from the 16-bit storage types of checkpoints, and to IEEE half, without hardware support.
#pragma once

#include <bit>
#include <cstdint>

namespace peruse {

// IEEE 754 binary16 -> binary32 (exact, subnormals and infinities included). After the shift the value is 2^112 too small; infinity and NaN
// become 2^16 and above. Branch-free, so that compilers vectorize loops over it.
inline float HalfToFloat(uint16_t half) {
  const float value = std::bit_cast<float>((half & 0x7FFFu) << 13) * 0x1p112f;
  const uint32_t exponent = value >= 0x1p16f ? 0x7F800000u : 0;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | exponent | (half & 0x8000u) << 16);
}

// bfloat16 -> binary32 (exact).
inline float Bfloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// binary32 -> binary16, round to nearest even, branch-free.
inline uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const uint32_t odd = (magnitude >> 13) & 1u;
  const uint32_t normal = (magnitude - 0x38000000u + 0xFFFu + odd) >> 13;
  // Subnormal: the float adder rounds at bit 24.
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
  const uint32_t too_large = magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u;  // NaN or infinity
  const uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | (magnitude >= 0x477FF000u ? too_large : finite));
}

}  // namespace peruse
