#include "core/base/decimal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace peruse {
namespace {

// A double, or a midpoint between two doubles, has at most 767 significant digits; further digits matter only as "nonzero".
constexpr int32_t kMostDigits = 800;
// Beyond these powers of ten a number rounds to zero or infinity, whatever its digits.
constexpr int32_t kLeastPower = -330;
constexpr int32_t kMostPower = 310;
constexpr int32_t kFarPower = 1 << 20;

// A natural number below 2^6144: enough for all digits times the power of ten, and spare bits for the division.
class Natural {
 public:
  explicit Natural(uint32_t value) { words_[0] = value; }

  void MultiplyAdd(uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (int32_t i = 0; i < size_; ++i) {
      carry += uint64_t{words_[i]} * factor;
      words_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_[size_++] = static_cast<uint32_t>(carry);
  }
  void MultiplyByPowerOfTen(int32_t power) {
    for (; power >= 9; power -= 9) MultiplyAdd(1'000'000'000, 0);
    for (; power > 0; --power) MultiplyAdd(10, 0);
  }
  int32_t bits() const {
    for (int32_t i = size_ - 1; i >= 0; --i) {
      if (words_[i] != 0) return 32 * i + static_cast<int32_t>(std::bit_width(words_[i]));
    }
    return 0;
  }
  void ShiftLeft(int32_t count) {
    const int32_t whole = count / 32, part = count % 32;
    size_ = std::min(kWords, size_ + whole + 1);
    for (int32_t i = size_ - 1; i >= 0; --i) {
      const uint64_t high = i - whole >= 0 ? words_[i - whole] : 0;
      const uint64_t low = i - whole >= 1 ? words_[i - whole - 1] : 0;
      words_[i] = static_cast<uint32_t>((high << 32 | low) << part >> 32);
    }
  }
  void Halve() {
    for (int32_t i = 0; i < size_; ++i) words_[i] = words_[i] >> 1 | (i + 1 < size_ ? words_[i + 1] << 31 : 0);
  }
  bool IsLess(const Natural& other) const {
    for (int32_t i = std::max(size_, other.size_) - 1; i >= 0; --i) {
      if (words_[i] != other.words_[i]) return words_[i] < other.words_[i];
    }
    return false;
  }
  // Precondition: other <= *this.
  void Subtract(const Natural& other) {
    uint64_t borrow = 0;
    for (int32_t i = 0; i < size_; ++i) {
      const uint64_t difference = uint64_t{words_[i]} - other.words_[i] - borrow;
      words_[i] = static_cast<uint32_t>(difference);
      borrow = difference >> 63;
    }
  }

 private:
  static constexpr int32_t kWords = 192;
  int32_t size_ = 1;  // words at this index and above are zero
  uint32_t words_[kWords] = {};
};

// Rounds quotient * 2^-shift. `has_rest` means that the exact number is slightly larger. The quotient has 55 to 57 bits.
double Rounded(uint64_t quotient, int32_t shift, bool has_rest) {
  const auto bits = static_cast<int32_t>(std::bit_width(quotient));
  const int32_t exponent = bits - 1 - shift;  // 2^exponent <= number < 2^(exponent + 1)
  const int32_t precision = std::min(53, exponent + 1075);
  if (precision < 0) return 0;
  const int32_t dropped = bits - precision;
  const uint64_t half = uint64_t{1} << (dropped - 1);
  const uint64_t rest = quotient & (2 * half - 1);
  uint64_t kept = quotient >> dropped;
  if (rest > half || (rest == half && (has_rest || (kept & 1) != 0))) ++kept;
  return std::ldexp(static_cast<double>(kept), dropped - shift);
}

// digits[0].digits[1]digits[2]... * 10^exponent
struct Decimal {
  std::string digits;
  int32_t exponent = 0;
};

// Adds one to the last digit.
void RoundUp(Decimal* number) {
  for (size_t i = number->digits.size(); i-- > 0;) {
    if (number->digits[i]++ != '9') return;
    number->digits[i] = '0';
  }
  number->digits.insert(number->digits.begin(), '1');
  number->digits.pop_back();
  ++number->exponent;
}

// Precondition: magnitude > 0.
Decimal DigitsOf(double magnitude, int32_t count) {
  int32_t exponent = 0;
  const auto significand = static_cast<uint64_t>(std::ldexp(std::frexp(magnitude, &exponent), 53));
  Natural numerator(static_cast<uint32_t>(significand >> 32)), denominator(1);
  numerator.ShiftLeft(32);
  numerator.MultiplyAdd(1, static_cast<uint32_t>(significand));
  (exponent > 53 ? numerator : denominator).ShiftLeft(std::abs(exponent - 53));
  // The quotient is magnitude / 10^result.exponent, from 1 to 10. The estimate may be too low by one.
  Decimal result;
  result.exponent = static_cast<int32_t>(std::floor((exponent - 1) * 0.30102999566398120));
  (result.exponent > 0 ? denominator : numerator).MultiplyByPowerOfTen(std::abs(result.exponent));
  Natural ten = denominator;
  ten.MultiplyAdd(10, 0);
  if (!numerator.IsLess(ten)) {
    denominator = ten;
    ++result.exponent;
  }
  for (; count > 0; --count) {
    char digit = '0';
    for (; !numerator.IsLess(denominator); ++digit) numerator.Subtract(denominator);
    result.digits.push_back(digit);
    numerator.MultiplyAdd(10, 0);
  }
  denominator.MultiplyAdd(5, 0);  // half of a digit, because the rest was multiplied by 10
  const bool is_odd = (result.digits.back() - '0') % 2 != 0;
  if (denominator.IsLess(numerator) || (is_odd && !numerator.IsLess(denominator))) RoundUp(&result);
  return result;
}

std::string WithoutExponent(const Decimal& number) {
  const int32_t count = static_cast<int32_t>(number.digits.size()), whole = number.exponent + 1;
  if (whole <= 0) return "0." + std::string(static_cast<size_t>(-whole), '0') + number.digits;
  if (whole >= count) return number.digits + std::string(static_cast<size_t>(whole - count), '0');
  return number.digits.substr(0, static_cast<size_t>(whole)) + "." + number.digits.substr(static_cast<size_t>(whole));
}

}  // namespace

double DecimalToDouble(std::string_view text) {
  Natural digits(0);
  int32_t count = 0, power = 0;  // digits * 10^power
  bool after_point = false, has_rest = false;
  const double sign = text.starts_with('-') ? -1 : 1;
  size_t at = sign < 0 ? 1 : 0;
  for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
    if (text[at] == '.') {
      after_point = true;
      continue;
    }
    const auto digit = static_cast<uint32_t>(text[at] - '0');
    const bool is_kept = count < kMostDigits;
    if (is_kept && (count > 0 || digit != 0)) {
      digits.MultiplyAdd(10, digit);
      ++count;
    }
    has_rest = has_rest || (!is_kept && digit != 0);
    if (is_kept ? after_point : !after_point) power = std::clamp(power + (after_point ? -1 : 1), -kFarPower, kFarPower);
  }
  if (at < text.size()) {
    const bool is_negative = text[++at] == '-';
    if (text[at] == '-' || text[at] == '+') ++at;
    int32_t exponent = 0;
    for (; at < text.size(); ++at) exponent = std::min(kFarPower * 4, exponent * 10 + (text[at] - '0'));
    power += is_negative ? -exponent : exponent;
  }
  if (count == 0 || count + power < kLeastPower) return sign * 0.0;
  if (count + power > kMostPower) return sign * std::numeric_limits<double>::infinity();

  Natural divisor(1);
  (power < 0 ? divisor : digits).MultiplyByPowerOfTen(std::abs(power));
  const int32_t shift = 55 - (digits.bits() - divisor.bits());
  (shift > 0 ? digits : divisor).ShiftLeft(std::abs(shift));
  constexpr int kQuotientBits = 57;
  divisor.ShiftLeft(kQuotientBits - 1);
  uint64_t quotient = 0;
  for (int i = 0; i < kQuotientBits; ++i, divisor.Halve()) {
    quotient <<= 1;
    if (digits.IsLess(divisor)) continue;
    digits.Subtract(divisor);
    quotient |= 1;
  }
  return sign * Rounded(quotient, shift, has_rest || digits.bits() > 0);
}

std::string DoubleToDecimal(double value, int32_t digits) {
  const std::string sign = std::signbit(value) ? "-" : "";
  if (value == 0) return sign + "0";
  Decimal number = DigitsOf(std::fabs(value), digits);
  number.digits.resize(number.digits.find_last_not_of('0') + 1);
  if (number.exponent >= -4 && number.exponent < digits) return sign + WithoutExponent(number);
  std::string text = sign + number.digits;
  if (number.digits.size() > 1) text.insert(sign.size() + 1, ".");
  const int32_t power = std::abs(number.exponent);
  return text + (number.exponent < 0 ? "e-" : "e+") + (power < 10 ? "0" : "") + std::to_string(power);
}

std::string ShortestDecimal(double value) {
  const std::string sign = std::signbit(value) ? "-" : "";
  const double magnitude = std::fabs(value);
  std::string text = "0";
  for (int32_t digits = 1; magnitude > 0 && digits <= 17; ++digits) {
    text = WithoutExponent(DigitsOf(magnitude, digits));
    if (DecimalToDouble(text) == magnitude) break;
  }
  return sign + text + (text.find('.') == std::string::npos ? ".0" : "");
}

}  // namespace peruse
