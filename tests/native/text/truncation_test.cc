#include <gtest/gtest.h>

#include "core/text/windows.h"

namespace peruse::text {
namespace {

std::vector<std::pair<size_t, size_t>> Pairs(const std::vector<TokenWindow>& windows) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const TokenWindow& window : windows) pairs.push_back({window.begin, window.end});
  return pairs;
}

using Ranges = std::vector<std::pair<size_t, size_t>>;

TEST(Truncate, LeavesShortTextsAlone) {
  const auto windows = Truncate(3, true, 4, 7, Truncation::kLongestFirst, 0, TruncationSide::kRight);
  ASSERT_TRUE(windows.ok());
  EXPECT_EQ(Pairs(windows->text), (Ranges{{0, 3}}));
  EXPECT_EQ(Pairs(windows->pair), (Ranges{{0, 4}}));
}

// Question answering: windows with 5 tokens of the context, of which adjacent windows share 2.
TEST(Truncate, SlidesOverTheSecond) {
  const auto windows = Truncate(2, true, 24, 7, Truncation::kOnlySecond, 2, TruncationSide::kRight);
  ASSERT_TRUE(windows.ok());
  EXPECT_EQ(Pairs(windows->text), (Ranges{{0, 2}}));
  EXPECT_EQ(Pairs(windows->pair), (Ranges{{0, 5}, {3, 8}, {6, 11}, {9, 14}, {12, 17}, {15, 20}, {18, 23}, {21, 24}}));
}

TEST(Truncate, SharesTheLimitOfAPair) {
  const auto keep = [](size_t text, size_t pair, size_t limit) {
    const auto windows = Truncate(text, true, pair, limit, Truncation::kLongestFirst, 0, TruncationSide::kRight);
    return std::make_pair(windows->text[0].end, windows->pair[0].end);
  };
  EXPECT_EQ(keep(8, 12, 7), std::make_pair(size_t{3}, size_t{4}));
  EXPECT_EQ(keep(12, 8, 7), std::make_pair(size_t{4}, size_t{3}));
  EXPECT_EQ(keep(9, 9, 7), std::make_pair(size_t{3}, size_t{4}));
  EXPECT_EQ(keep(2, 9, 7), std::make_pair(size_t{2}, size_t{5}));
}

TEST(Truncate, CutsTheLeftEndWhenAsked) {
  const auto windows = Truncate(5, false, 0, 2, Truncation::kLongestFirst, 1, TruncationSide::kLeft);
  ASSERT_TRUE(windows.ok());
  EXPECT_EQ(Pairs(windows->text), (Ranges{{3, 5}, {2, 4}, {1, 3}, {0, 2}}));
}

TEST(Truncate, RefusesContradictions) {
  const auto code = [](const Result<SequenceWindows>& result) { return result.status().code(); };
  EXPECT_EQ(code(Truncate(10, false, 0, 4, Truncation::kOnlySecond, 0, TruncationSide::kRight)),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Truncate(10, false, 0, 4, Truncation::kOnlyFirst, 4, TruncationSide::kRight)),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Truncate(3, true, 20, 10, Truncation::kOnlyFirst, 0, TruncationSide::kRight)),
            StatusCode::kInvalidArgument);
}

TEST(Truncate, WindowsCoverEverything) {
  for (size_t length = 1; length < 40; ++length) {
    for (size_t limit = 1; limit < 12; ++limit) {
      for (size_t stride = 0; stride < limit; ++stride) {
        for (const TruncationSide side : {TruncationSide::kLeft, TruncationSide::kRight}) {
          auto result = Truncate(length, false, 0, limit, Truncation::kLongestFirst, stride, side);
          ASSERT_TRUE(result.ok());
          std::vector<TokenWindow> windows = result->text;
          if (side == TruncationSide::kLeft) {
            for (TokenWindow& window : windows) window = {length - window.end, length - window.begin};
          }
          ASSERT_EQ(windows.front().begin, 0u);
          ASSERT_EQ(windows.back().end, length);
          for (size_t i = 0; i + 1 < windows.size(); ++i) {
            ASSERT_EQ(windows[i].end - windows[i].begin, limit);
            ASSERT_EQ(windows[i].end - windows[i + 1].begin, stride);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace peruse::text
