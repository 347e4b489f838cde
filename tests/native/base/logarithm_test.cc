#include "core/base/logarithm.h"

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

}  // namespace
}  // namespace peruse
