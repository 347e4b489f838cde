// Tokenizing any text takes linear time, so that pasted text cannot freeze a page.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "tests/native/text/fixture_files.h"

namespace peruse::text {
namespace {

constexpr size_t kShort = 1 << 14;
constexpr size_t kTimes = 16;
constexpr double kAllowed = 100;  // 16 is linear, 256 quadratic; the limit allows for logarithms, caches and allocators

std::string Letters(size_t bytes) {
  std::string word;
  uint32_t seed = 1;
  for (size_t i = 0; i < bytes; ++i) {
    seed = seed * 1664525 + 1013904223;
    word.push_back(static_cast<char>('a' + (seed >> 24) % 26));
  }
  return word;
}

std::string Repeat(const std::string& part, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

// Processor time, because other programs should not count. Some of its clocks have a resolution of milliseconds.
double Seconds(const Tokenizer& tokenizer, const std::string& text) {
  constexpr std::clock_t kEnough = CLOCKS_PER_SEC / 50;
  double best = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    int times = 0;
    while (std::clock() - start < kEnough) {
      EXPECT_TRUE(tokenizer.Encode(text).ok());
      ++times;
    }
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / times);
  }
  return best;
}

class LinearTime : public testing::TestWithParam<FixtureName> {};

TEST_P(LinearTime, HoldsForAnyText) {
  const auto tokenizer = LoadFixture(GetParam());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  const auto expect_linear = [&](const char* what, const std::string& once, const std::string& often) {
    const double growth = Seconds(**tokenizer, often) / Seconds(**tokenizer, once);
    EXPECT_LT(growth, kAllowed) << what << ": " << kTimes << " times the text took " << growth << " times as long";
  };
  expect_linear("one word", Letters(kShort), Letters(kShort * kTimes));
  // Sentences, letters, spaces, punctuation, an ideograph, a precomposed letter, a combining mark, a continuation alone.
  for (const char* part : {"The quick brown fox, 17 times. ", "a", " ", ".", "\u4e2d", "\u00e9", "\u0301", "##a"}) {
    expect_linear(part, Repeat(part, kShort), Repeat(part, kShort * kTimes));
  }
}

INSTANTIATE_TEST_SUITE_P(, LinearTime, testing::ValuesIn(kFixtures),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace peruse::text
