#include "core/base/elementary.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>

namespace peruse {
namespace {

// 2^exponent for -1022 to 1023.
double PowerOfTwo(int64_t exponent) { return std::bit_cast<double>((1023 + exponent) << 52); }

// Factors of Taylor's series of cosh(sqrt s) and sinh(sqrt s) / sqrt s, for the powers s^7 or s^6 to 1.
constexpr double kEven[] = {1 / 87178291200., 1 / 479001600., 1 / 3628800., 1 / 40320., 1 / 720., 1 / 24., 1 / 2., 1};
constexpr double kOdd[] = {1 / 6227020800., 1 / 39916800., 1 / 362880., 1 / 5040., 1 / 120., 1 / 6., 1};

double Sum(std::span<const double> factors, double s, double first) {
  for (const double factor : factors) first = factor + s * first;
  return first;
}

}  // namespace

double NaturalLog(double x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x == std::numeric_limits<double>::infinity()) return x;
  // x = m 2^exponent with m between sqrt(1/2) and sqrt(2); ln m = 2 artanh(s) = 2 (s + s^3 / 3 + s^5 / 5 + ...).
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < std::numbers::sqrt2 / 2) m *= 2, --exponent;
  const double s = (m - 1) / (m + 1);
  double rest = 0;
  for (int power = 21; power >= 3; power -= 2) rest = (rest + 1.0 / power) * s * s;
  return exponent * std::numbers::ln2 + 2 * (s + s * rest);
}

double Exponential(double x) {
  if (!(x > -750)) return x < 0 ? 0 : x;  // x if it is NaN
  if (x > 710) return std::numeric_limits<double>::infinity();
  // x = n ln 2 + r. The first part of ln 2 has 32 bits, so that its product with n is exact.
  constexpr double kHigh = 0x1.62e42feep-1, kLow = 0x1.a39ef35793c76p-33;
  const double n = std::nearbyint(x * std::numbers::log2e);
  const double r = (x - n * kHigh) - n * kLow;
  const auto exponent = static_cast<int64_t>(n);  // in two factors, because the result may be smaller than 2^-1022
  return (Sum(kEven, r * r, 0) + r * Sum(kOdd, r * r, 0)) * PowerOfTwo(exponent / 2) *
         PowerOfTwo(exponent - exponent / 2);
}

double Power(double base, double exponent) { return Exponential(exponent * NaturalLog(base)); }

Direction DirectionOf(double angle) {
  // angle = n pi / 2 + r. The first two parts of pi / 2 have 24 bits each, so that their products with n are exact.
  constexpr double kFirst = 0x1.921fb4p+0, kSecond = 0x1.4442d0p-24, kThird = 0x1.8469898cc5170p-48;
  const double n = std::nearbyint(angle * (2 * std::numbers::inv_pi));
  const double r = ((angle - n * kFirst) - n * kSecond) - n * kThird;
  const double s = -r * r;
  const double cosine = Sum(kEven, s, 1 / 20922789888000.), sine = r * Sum(kOdd, s, 1 / 1307674368000.);
  const auto quarters = static_cast<int64_t>(n);
  const Direction turned = quarters % 2 == 0 ? Direction{cosine, sine} : Direction{-sine, cosine};
  return (quarters & 2) == 0 ? turned : Direction{-turned.cosine, -turned.sine};
}

}  // namespace peruse
