#include "core/base/logarithm.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace peruse {

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

double Power(double base, double exponent) { return std::exp(exponent * NaturalLog(base)); }

}  // namespace peruse
