#include "core/tasks/vector_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

namespace peruse::testing {
namespace {

TEST(VectorIndexTest, FindsWhatSortingFinds) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> digit(-4, 4);  // small integers: products are exact, and some are equal
  for (const size_t width : {1, 3, 16, 37}) {
    for (const size_t rows : {0, 1, 7, 200, 3000}) {
      VectorIndex index(width);
      ASSERT_TRUE(index.Resize(rows).ok());
      for (float& value : index.values()) value = static_cast<float>(digit(random));
      for (float& value : index.query()) value = static_cast<float>(digit(random));
      ASSERT_FALSE(index.Finish());
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
  EXPECT_FALSE(index.Finish());
  index.values()[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(index.Finish(), 2u);
}

// Compares a search that reads most rows in 8 bits with indices of few rows, which are read in full.
void ExpectExact(size_t width, size_t rows, const std::function<float(size_t row, size_t col)>& value,
                 const std::function<float(size_t col)>& query, const std::string& what) {
  VectorIndex all(width);
  ASSERT_TRUE(all.Resize(rows).ok());
  for (size_t i = 0; i < rows * width; ++i) all.values()[i] = value(i / width, i % width);
  for (size_t c = 0; c < width; ++c) all.query()[c] = query(c);
  ASSERT_FALSE(all.Finish());
  std::vector<VectorIndex::Hit> wanted;
  VectorIndex one(width);
  ASSERT_TRUE(one.Resize(1).ok());
  std::copy(all.query().begin(), all.query().end(), one.query().begin());
  for (size_t row = 0; row < rows; ++row) {
    const auto values = all.values().subspan(row * width, width);
    std::copy(values.begin(), values.end(), one.values().begin());
    wanted.push_back({row, one.Search(1)[0].score});
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  for (const size_t k : {1, 10, 100}) {
    const std::vector<VectorIndex::Hit> found = all.Search(k);
    ASSERT_EQ(found.size(), k);
    for (size_t i = 0; i < k; ++i) {
      ASSERT_EQ(found[i].row, wanted[i].row) << what << ", " << k << " of " << rows << " x " << width;
      ASSERT_EQ(found[i].score, wanted[i].score) << what;
    }
  }
}

TEST(VectorIndexTest, FindsToTheBitWhatReadingAllRowsInFullFinds) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const size_t width : {1, 5, 16, 96, 384}) {
    const auto any = [&](size_t) { return normal(random); };
    std::vector<float> centre(width);
    for (float& value : centre) value = normal(random);
    std::vector<float> sizes(2000);
    for (float& size : sizes) size = std::exp(20 * normal(random));
    ExpectExact(width, 2000, [&](size_t, size_t) { return normal(random); }, any, "normal");
    ExpectExact(
        width, 2000, [&](size_t, size_t c) { return centre[c] + 1e-4f * normal(random); }, any, "all nearly alike");
    ExpectExact(width, 2000, [&](size_t row, size_t) { return sizes[row] * normal(random); }, any, "of any length");
    ExpectExact(
        width, 2000, [&](size_t row, size_t c) { return row % 3 == 0 ? 0.0f
                                                        : c == 0     ? 100.0f
                                                                     : normal(random); }, any,
        "one large value, and zeros");
    ExpectExact(
        width, 2000, [&](size_t, size_t) { return 1e-42f * normal(random); }, any, "below the range of float32");
    ExpectExact(width, 2000, [&](size_t, size_t) { return normal(random); }, [](size_t) { return 0.0f; }, "no query");
    ExpectExact(
        width, 2000, [&](size_t row, size_t) { return row % 2 == 0 ? 3e38f : -1e38f; },
        [&](size_t) { return 1 + std::fabs(normal(random)); }, "overflowing");
  }
}

// rows * width is 0 modulo the size of memory.
TEST(VectorIndexTest, SizesThatOverflowAreTooLarge) {
  VectorIndex index(4);
  const size_t rows = SIZE_MAX / 4 + 1;
  EXPECT_EQ(index.Resize(rows).code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(index.ResizeCodes(rows).code(), StatusCode::kOutOfMemory);
  EXPECT_TRUE(index.Search(1).empty());
  EXPECT_TRUE(index.Resize(1).ok());
}

// Rows that are stored as 8-bit integers are found by the product with their decoded values.
TEST(VectorIndexTest, RowsOfCodes) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> code(-127, 127);
  std::normal_distribution<float> normal;
  for (const size_t width : {1, 5, 384}) {
    for (const size_t rows : {0, 3, 2000}) {
      VectorIndex index(width);
      ASSERT_TRUE(index.ResizeCodes(rows).ok());
      for (int8_t& value : index.codes()) value = static_cast<int8_t>(code(random));
      for (float& scale : index.scales()) scale = std::fabs(normal(random));
      for (float& value : index.query()) value = normal(random);
      ASSERT_FALSE(index.Finish());
      std::vector<VectorIndex::Hit> wanted;
      for (size_t row = 0; row < rows; ++row) {
        double product = 0;
        for (size_t c = 0; c < width; ++c) {
          product += static_cast<double>(index.codes()[row * width + c]) * static_cast<double>(index.query()[c]);
        }
        wanted.push_back({row, static_cast<float>(product * static_cast<double>(index.scales()[row]))});
      }
      std::stable_sort(wanted.begin(), wanted.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
      for (const size_t k : {1, 10, 1000}) {
        const std::vector<VectorIndex::Hit> found = index.Search(k);
        ASSERT_EQ(found.size(), std::min(k, rows));
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_NEAR(found[i].score, wanted[i].score, 1e-5f * std::fabs(wanted[0].score))
              << width << " " << rows << " " << i;
        }
      }
    }
  }
  VectorIndex index(2);
  ASSERT_TRUE(index.ResizeCodes(2).ok());
  std::fill(index.codes().begin(), index.codes().end(), int8_t{1});
  index.scales()[0] = 1;
  for (const float scale : {std::numeric_limits<float>::infinity(), -1.0f}) {
    index.scales()[1] = scale;
    EXPECT_EQ(index.Finish(), 1u);
  }
}

}  // namespace
}  // namespace peruse::testing
