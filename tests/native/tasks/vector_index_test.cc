#include "core/tasks/vector_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace peruse::testing {
namespace {

TEST(VectorIndexTest, FindsWhatSortingFinds) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> digit(-4, 4);  // Small integers: products are exact, and some are equal.
  for (const size_t width : {1, 3, 16, 37}) {
    for (const size_t rows : {0, 1, 7, 200}) {
      VectorIndex index(width);
      ASSERT_TRUE(index.Resize(rows).ok());
      for (float& value : index.values()) value = static_cast<float>(digit(random));
      for (float& value : index.query()) value = static_cast<float>(digit(random));
      std::vector<VectorIndex::Hit> wanted;
      for (size_t row = 0; row < rows; ++row) {
        float product = 0;
        for (size_t c = 0; c < width; ++c) product += index.values()[row * width + c] * index.query()[c];
        wanted.push_back({row, product});
      }
      std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
      for (const size_t k : {0, 1, 5, 300}) {
        const std::vector<VectorIndex::Hit> found = index.Search(k);
        ASSERT_EQ(found.size(), std::min(k, rows));
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].row, wanted[i].row) << width << " " << rows << " " << k << " " << i;
          EXPECT_EQ(found[i].score, wanted[i].score);
        }
      }
    }
  }
}

TEST(VectorIndexTest, NumbersThatAreNotFiniteAreFound) {
  VectorIndex index(3);
  ASSERT_TRUE(index.Resize(4).ok());
  std::fill(index.values().begin(), index.values().end(), 1.0f);
  EXPECT_FALSE(index.FirstBadRow());
  index.values()[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(index.FirstBadRow(), 2u);
}

}  // namespace
}  // namespace peruse::testing
