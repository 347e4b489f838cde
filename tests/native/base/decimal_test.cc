#include "core/base/decimal.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

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

std::string Printed(const char* format, int digits, double value) {
  char text[400];
  std::snprintf(text, sizeof(text), format, digits, value);
  return text;
}

TEST(DecimalTest, NumbersAreWrittenAsByPrintf) {
  std::mt19937_64 random(7);
  std::vector<double> numbers = {0.0,
                                 -0.0,
                                 1,
                                 -1,
                                 10,
                                 100,
                                 9.5,
                                 0.5,
                                 2.5,
                                 0.1,
                                 1e16,
                                 1e17,
                                 1e-4,
                                 1e-5,
                                 123456,
                                 1e300,
                                 1e-300,
                                 5e-324,
                                 4.9e-322,
                                 999999.5,
                                 0.99999999999999989,
                                 1.7976931348623157e308,
                                 2.2250738585072014e-308,
                                 9007199254740993.0};
  for (int i = 0; i < 4000; ++i) {
    numbers.push_back(std::bit_cast<double>(random()));
    numbers.push_back(static_cast<double>(static_cast<float>(random() % 1000000) / 1e6f));
    numbers.push_back(std::ldexp(static_cast<double>(random() % 4096), static_cast<int>(random() % 40) - 20));  // ties
  }
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    for (const int digits : {1, 3, 9, 17}) {
      ASSERT_EQ(DoubleToDecimal(number, digits), Printed("%.*g", digits, number)) << number;
    }
    const double size = std::fabs(number);
    if (size != 0 && (size < 1e-4 || size >= 1e16)) continue;
    std::string shortest;
    for (int decimals = 1; decimals < 24; ++decimals) {
      shortest = Printed("%.*f", decimals, number);
      if (std::strtod(shortest.c_str(), nullptr) == number) break;
    }
    ASSERT_EQ(DecimalToDouble(ShortestDecimal(number)), number);
    ASSERT_LE(ShortestDecimal(number).size(), shortest.size()) << number;
  }
  EXPECT_EQ(ShortestDecimal(3), "3.0");
  EXPECT_EQ(ShortestDecimal(-0.25), "-0.25");
  EXPECT_EQ(ShortestDecimal(1234567), "1234567.0");
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

// Exactly in the middle of two doubles, the even one is taken; a digit that is not zero decides, however far behind.
TEST(DecimalTest, AFarDigitDecidesAMiddle) {
  const std::string middle = "9007199254740993";  // 2^53 + 1
  for (const size_t zeros : {10U, 700U, 799U, 800U, 801U, 2000U}) {
    const std::string far(zeros, '0');
    EXPECT_EQ(DecimalToDouble(middle + "." + far), 9007199254740992.0) << zeros;
    EXPECT_EQ(DecimalToDouble(middle + "." + far + "1"), 9007199254740994.0) << zeros;
    EXPECT_EQ(DecimalToDouble(middle + "." + far + "1" + far), 9007199254740994.0) << zeros;
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
