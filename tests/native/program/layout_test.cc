// Compares each layout with its definition, element by element, for whole tensors and parts of them.
#include "core/program/layout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace peruse {
namespace {

struct LayoutCase {
  std::string name;
  Layout layout;
  std::vector<int64_t> shape;
  int64_t cols;
  int64_t rows;
  // Returns the element of the tensor for [row, col] of the parameter, or -1.
  std::function<int64_t(int64_t row, int64_t col)> element;
};

std::vector<LayoutCase> Cases() {
  return {
      {"InOrder",
       layouts::InOrder{2},
       {3, 4},
       4,
       6,
       [](int64_t row, int64_t col) { return row < 2 || row > 4 ? -1 : (row - 2) * 4 + col; }},
      {"Scalars",
       layouts::InOrder{1},
       {5},
       1,
       7,
       [](int64_t row, int64_t) { return row < 1 || row > 5 ? -1 : row - 1; }},
      // Two heads, three parts, two channels: the file has the order head, part, channel.
      {"HeadsOutermost",
       layouts::HeadsOutermost{.parts = 3, .width = 2, .first_row = 1},
       {12, 3},
       3,
       13,
       [](int64_t row, int64_t col) -> int64_t {
         if (row == 0) return -1;
         const int64_t part = (row - 1) / 4, head = (row - 1) / 2 % 2, channel = (row - 1) % 2;
         return ((head * 3 + part) * 2 + channel) * 3 + col;
       }},
      {"GroupsTransposed",
       layouts::GroupsTransposed{},
       {2, 3, 4},
       3,
       8,
       [](int64_t row, int64_t col) { return (row / 4 * 3 + col) * 4 + row % 4; }},
      {"MatricesTransposed",
       layouts::GroupsTransposed{},
       {6, 4},
       3,
       8,
       [](int64_t row, int64_t col) { return (row / 4 * 3 + col) * 4 + row % 4; }},
      {"TapsOutermost",
       layouts::TapsOutermost{},
       {3, 2, 5},
       10,
       3,
       [](int64_t row, int64_t col) { return (row * 2 + col % 2) * 5 + col / 2; }},
      {"RowsOfTaps",
       layouts::RowsOfTaps{1},
       {3, 2, 4},
       2,
       13,
       [](int64_t row, int64_t col) { return row == 0 ? -1 : ((row - 1) % 3 * 2 + col) * 4 + (row - 1) / 3; }},
      {"SomeColumns",
       layouts::SomeColumns{2},
       {3, 7},
       4,
       3,
       [](int64_t row, int64_t col) { return row * 7 + 2 + col; }},
      {"Part",
       layouts::Part{.part = 1, .first_row = 1},
       {3, 2, 5},
       5,
       4,
       [](int64_t row, int64_t col) { return row == 0 || row == 3 ? -1 : (2 + row - 1) * 5 + col; }},
      {"Row", layouts::Part{.part = 2}, {4, 3}, 3, 1, [](int64_t, int64_t col) { return 6 + col; }},
      {"TransposedPart",
       layouts::TransposedPart{1},
       {2, 3, 4},
       3,
       4,
       [](int64_t row, int64_t col) { return 12 + col * 4 + row; }},
      {"SomeColumnsOfExperts",
       layouts::GroupsTransposed{.first = 2, .count = 3},
       {2, 3, 6},
       3,
       6,
       [](int64_t row, int64_t col) { return row / 3 * 18 + col * 6 + 2 + row % 3; }},
      {"BiasesOfExperts",
       layouts::GroupsTransposed{.first = 1, .count = 2},
       {3, 4},
       1,
       6,
       [](int64_t row, int64_t) { return row / 2 * 4 + 1 + row % 2; }},
      {"PairsOfHeads",
       layouts::HeadsOutermost{.parts = 2, .first_row = 1, .blocks = 2},
       {8, 3},
       3,
       9,
       [](int64_t row, int64_t col) {
         const int64_t head = (row - 1) / 4, pair = (row - 1) % 2, part = (row - 1) % 4 / 2;
         return row == 0 ? -1 : (head * 4 + pair * 2 + part) * 3 + col;
       }},
      {"Transposed", layouts::Transposed{}, {4, 1, 3}, 4, 3, [](int64_t row, int64_t col) { return col * 3 + row; }},
      {"Repeated", layouts::Repeated{3}, {2, 2}, 6, 2, [](int64_t row, int64_t col) { return row * 2 + col % 2; }},
      {"RepeatedScalar", layouts::Repeated{4}, {}, 4, 1, [](int64_t, int64_t) { return 0; }},
      {"SoftmaxTaps", layouts::SoftmaxTaps{}, {2, 3}, 6, 3, [](int64_t row, int64_t col) { return col / 3 * 3 + row; }},
  };
}

class LayoutTest : public ::testing::TestWithParam<LayoutCase> {
 protected:
  std::vector<int64_t> Arranged(int64_t units_at_once) {
    const LayoutCase& c = GetParam();
    const Placement placement = {c.layout, c.shape, c.cols};
    const int64_t unit = UnitElements(placement), units = ElementCount(c.shape) / unit;
    EXPECT_EQ(units * unit, ElementCount(c.shape));
    std::vector<int64_t> found(static_cast<size_t>(c.rows * c.cols), -1);
    for (int64_t first = 0; first < units; first += units_at_once) {
      for (const ElementRun& run : RunsOf(placement, first, std::min(units_at_once, units - first))) {
        for (int64_t i = 0; i < run.count; ++i) {
          found[static_cast<size_t>(run.to + i)] = first * unit + run.from + i * run.step;
        }
      }
    }
    return found;
  }
};

TEST_P(LayoutTest, ArrangesEachElement) {
  const LayoutCase& c = GetParam();
  std::vector<int64_t> expected;
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t col = 0; col < c.cols; ++col) expected.push_back(c.element(row, col));
  }
  for (const int64_t units_at_once : {1, 2, 3, 5, 100}) {
    EXPECT_EQ(Arranged(units_at_once), expected) << units_at_once;
  }
}

TEST_P(LayoutTest, FillsRowsFromTheirFirstColumnOn) {
  const LayoutCase& c = GetParam();
  int64_t next = -1;
  for (const ElementRun& run : RunsOf({c.layout, c.shape, c.cols})) {
    if (run.to % c.cols != 0) EXPECT_EQ(run.to, next);
    next = run.to + run.count;
  }
  EXPECT_EQ(next % c.cols, 0);
}

INSTANTIATE_TEST_SUITE_P(Layouts, LayoutTest, ::testing::ValuesIn(Cases()),
                         [](const ::testing::TestParamInfo<LayoutCase>& info) { return info.param.name; });

TEST(SoftmaxOfRows, SumsToOneInEachRow) {
  const std::vector<float> values = {1, 2, 3, -100, 0, 100};
  const std::vector<float> found = SoftmaxOfRows(values, 3);
  ASSERT_EQ(found.size(), 6u);
  EXPECT_NEAR(found[0] + found[1] + found[2], 1, 1e-6);
  EXPECT_NEAR(found[2] / found[1], std::exp(1.0), 1e-5);
  EXPECT_EQ(found[5], 1);
}

}  // namespace
}  // namespace peruse
