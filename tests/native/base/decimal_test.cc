#include "core/base/decimal.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace peruse {
namespace {

void ExpectAsStrtod(const std::string& text) {
  ASSERT_EQ(std::bit_cast<uint64_t>(DecimalToDouble(text)), std::bit_cast<uint64_t>(std::strtod(text.c_str(), nullptr)))
      << text;
}

std::string Digits(std::mt19937_64& random, uint64_t count) {
  std::string text;
  for (; count > 0; --count) text += static_cast<char>('0' + random() % 10);
  return text;
}

TEST(DecimalTest, EdgesOfTheRange) {
  for (const char* text : {"0",
                           "-0",
                           "0.0",
                           "-0.0e5",
                           "0e999999999999",
                           "2.2250738585072011e-308",
                           "2.2250738585072014e-308",
                           "4.9406564584124654e-324",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "-1e-400",
                           "1.7976931348623157e308",
                           "1.7976931348623158e308",
                           "1.7976931348623159e308",
                           "-1e400",
                           "1e99999999999",
                           "1e-99999999999",
                           "9007199254740993",
                           "1e23",
                           "123e-2",
                           "1E+5"}) {
    ExpectAsStrtod(text);
  }
}

TEST(DecimalTest, EveryDoubleAndTheMiddleBeyondIt) {
  std::mt19937_64 random(7);
  char text[1200];
  for (int i = 0; i < 800; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    for (const char* form : {"%.17g", "%.16g", "%.5e", "%.800e"}) {
      std::snprintf(text, sizeof(text), form, number);
      ExpectAsStrtod(text);
    }
    const double next = std::nextafter(number, 1e308);
    if (!std::isfinite(next)) continue;
    std::snprintf(text, sizeof(text), "%.780Le",
                  (static_cast<long double>(number) + static_cast<long double>(next)) / 2);
    ExpectAsStrtod(text);
    const std::string middle = text;
    const size_t exponent = middle.find('e');
    ExpectAsStrtod(middle.substr(0, exponent) + "0000001" + middle.substr(exponent));
  }
}

TEST(DecimalTest, ManyDigits) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 500; ++i) {
    ExpectAsStrtod((random() % 2 != 0 ? "-" : "") + Digits(random, 1 + random() % 40) + "." +
                   Digits(random, 1 + random() % 40) + "e" + std::to_string(static_cast<int>(random() % 700) - 350));
    ExpectAsStrtod("1" + Digits(random, random() % 1200) + "." + Digits(random, 1 + random() % 1200) + "e-" +
                   std::to_string(random() % 1500));
    ExpectAsStrtod("0." + std::string(random() % 400, '0') + Digits(random, 1 + random() % 900));
  }
}

}  // namespace
}  // namespace peruse
