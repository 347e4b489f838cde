#pragma once

#include <bit>
#include <cstdint>

namespace peruse {

// Converts IEEE 754 binary16 exactly. The shift makes the value 2^112 too small; infinity and NaN become 2^16 and above. Branch-free, so
// that compilers vectorize loops over it.
inline float HalfToFloat(uint16_t half) {
  const float value = std::bit_cast<float>((half & 0x7FFFu) << 13) * 0x1p112f;
  const uint32_t exponent = value >= 0x1p16f ? 0x7F800000u : 0;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | exponent | (half & 0x8000u) << 16);
}

inline float Bfloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Rounds to the nearest IEEE 754 binary16, ties to even. Branch-free, for vectorization.
inline uint16_t FloatToHalf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const uint32_t odd = (magnitude >> 13) & 1u;
  const uint32_t normal = (magnitude - 0x38000000u + 0xFFFu + odd) >> 13;
  // The result is subnormal: adding 0.5 makes the float adder round at bit 24.
  const uint32_t subnormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
  const uint32_t too_large = magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u;  // NaN or infinity
  const uint32_t finite = magnitude < 0x38800000u ? subnormal : normal;
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | (magnitude >= 0x477FF000u ? too_large : finite));
}

}  // namespace peruse
