#include "core/base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace peruse {
namespace {

constexpr uint32_t kHalves = 1 << 16;
constexpr uint32_t kInfinity = 0x7C00;

double ValueOf(uint32_t half) {
  const int exponent = static_cast<int>(half >> 10 & 0x1F);
  const int mantissa = static_cast<int>(half & 0x3FF);
  const double sign = half & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

TEST(HalfTest, EveryHalfHasItsValueAndItsSign) {
  for (uint32_t half = 0; half < kHalves; ++half) {
    const float value = HalfToFloat(static_cast<uint16_t>(half));
    if (std::isnan(ValueOf(half))) {
      const uint32_t bits = 0x7F800000u | (half & 0x8000u) << 16 | (half & 0x3FFu) << 13;
      ASSERT_EQ(std::bit_cast<uint32_t>(value), bits) << half;
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), ValueOf(half)) << half;
    ASSERT_EQ(std::signbit(value), half >= 0x8000) << half;
    ASSERT_EQ(FloatToHalf(value), half);
  }
}

TEST(HalfTest, RoundsToTheNearestAndHalfwayToEven) {
  for (uint32_t half = 0; half < kInfinity; ++half) {
    const auto below = static_cast<uint16_t>(half);
    const auto above = static_cast<uint16_t>(half + 1);
    const double next = half + 1 == kInfinity ? 65536 : ValueOf(above);  // as if exponents continued
    const auto halfway = static_cast<float>((ValueOf(below) + next) / 2);
    ASSERT_EQ(FloatToHalf(halfway), half % 2 == 0 ? below : above) << half;
    ASSERT_EQ(FloatToHalf(std::nextafter(halfway, 0.0f)), below) << half;
    ASSERT_EQ(FloatToHalf(std::nextafter(halfway, 1e6f)), above) << half;
    ASSERT_EQ(FloatToHalf(-halfway), 0x8000 | FloatToHalf(halfway)) << half;
  }
}

TEST(HalfTest, WhatIsTooLargeIsInfinityAndNanStaysNan) {
  for (const float value : {65520.0f, 1e30f, std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(FloatToHalf(value), kInfinity);
    EXPECT_EQ(FloatToHalf(-value), 0x8000 | kInfinity);
  }
  for (const uint32_t bits : {0x7FC00000u, 0x7F800001u, 0xFFFFFFFFu}) {
    EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(std::bit_cast<float>(bits))))) << bits;
  }
}

}  // namespace
}  // namespace peruse
