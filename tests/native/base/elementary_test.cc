#include "core/base/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace peruse {
namespace {

TEST(Logarithm, IsThatOfC) {
  for (double x = 1e-310; x < 1e308; x *= 1.0037) {
    EXPECT_NEAR(NaturalLog(x), std::log(x), 5e-16 * std::abs(std::log(x))) << x;
  }
  for (double x = 0.5; x < 2; x += 1e-4) EXPECT_NEAR(NaturalLog(x), std::log(x), 5e-16 * std::abs(std::log(x))) << x;
}

TEST(Logarithm, OfWholeNumbersRoundsToTheSameFloat) {
  for (int n = 1; n <= 100'000; ++n) EXPECT_EQ(static_cast<float>(NaturalLog(n)), static_cast<float>(std::log(n))) << n;
}

TEST(Logarithm, HasThatOfZeroInfinityAndNegativeNumbers) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(NaturalLog(0), -infinity);
  EXPECT_EQ(NaturalLog(infinity), infinity);
  EXPECT_EQ(NaturalLog(1), 0);
  EXPECT_TRUE(std::isnan(NaturalLog(-1)));
  EXPECT_TRUE(std::isnan(NaturalLog(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Power, IsThatOfC) {
  for (const double base : {0.25, 1.5, 2.0, 10'000.0, 1e6}) {
    for (double exponent = -8; exponent <= 8; exponent += 1.0 / 64) {
      const double expected = std::pow(base, exponent);
      EXPECT_NEAR(Power(base, exponent), expected, 5e-16 * (1 + std::abs(exponent * std::log(base))) * expected);
    }
  }
  EXPECT_EQ(Power(10'000, 0), 1);
}

TEST(Exponential, IsThatOfC) {
  for (double x = -708; x < 709.7; x += 0.0137) EXPECT_NEAR(Exponential(x), std::exp(x), 1e-15 * std::exp(x)) << x;
  for (double x = 1e-300; x < 1; x *= 1.5) {
    EXPECT_NEAR(Exponential(-x), std::exp(-x), 1e-15) << x;
    EXPECT_NEAR(Exponential(x), std::exp(x), 4e-16 * std::exp(x)) << x;
  }
  // Numbers below the least normal one have fewer digits.
  const double least = std::numeric_limits<double>::denorm_min();
  for (double x = -760; x < -708; x += 0.0137) {
    EXPECT_NEAR(Exponential(x), std::exp(x), least + 1e-15 * std::exp(x)) << x;
  }
}

TEST(Exponential, HasThatOfZeroInfinityAndNaN) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Exponential(0), 1);
  EXPECT_EQ(Exponential(-0.0), 1);
  EXPECT_EQ(Exponential(infinity), infinity);
  EXPECT_EQ(Exponential(-infinity), 0);
  EXPECT_EQ(Exponential(710.5), infinity);
  EXPECT_TRUE(std::isnan(Exponential(std::numeric_limits<double>::quiet_NaN())));
}

TEST(DirectionOf, IsCosineAndSineOfC) {
  const auto expect_same = [](double angle) {
    EXPECT_NEAR(DirectionOf(angle).cosine, std::cos(angle), 1e-15) << angle;
    EXPECT_NEAR(DirectionOf(angle).sine, std::sin(angle), 1e-15) << angle;
  };
  for (double angle = -1000; angle < 1000; angle += 0.00917) expect_same(angle);
  // The longest texts: millions of tokens times a frequency of up to 1. Near a multiple of pi / 2 all leading digits cancel.
  for (double angle = 1000; angle < 5e8; angle *= 1.00091) {
    expect_same(angle);
    expect_same(std::round(angle / M_PI_2) * M_PI_2);
  }
}

TEST(DirectionOf, RoundsToTheSameFloat) {
  int different = 0;
  for (int position = 0; position < 200'000; ++position) {
    const double angle = position * static_cast<double>(0.7498942f);
    different += static_cast<float>(DirectionOf(angle).cosine) != static_cast<float>(std::cos(angle));
    different += static_cast<float>(DirectionOf(angle).sine) != static_cast<float>(std::sin(angle));
  }
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace peruse
