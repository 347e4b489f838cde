#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/ops/concat.h"
#include "tests/native/ops/gradient_case.h"

namespace peruse::testing {
namespace {

const std::vector<OpCase>& GradientCases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> found;
    for (const OpCase& c : AllCases()) {
      if (HasGradient(c)) found.push_back(c);
    }
    // Backends never run concatenations, so the list of cases does not have one.
    found.push_back({.operation = "Concat",
                     .write =
                         [](CaseProgram& p, const OpCase& c) {
                           const Value x = p.Tokens(c.cols);
                           p.Add(ops::Concat{x, p.Tokens(c.out), p.Output({Domain::kTokens, 1}, c.cols + c.out)});
                         },
                     .lengths = kRagged,
                     .cols = 5,
                     .out = 3});
    return found;
  }();
  return cases;
}

class Gradients : public ::testing::TestWithParam<size_t> {};

// Moves each operand along random directions and compares the change of the loss with the gradient. The difference is exact up to h^2, and
// 1e-16 / h of the loss; a gradient that is wrong in one cell shows in every direction.
TEST_P(Gradients, AgreeWithCentralDifferences) {
  const OpCase& oc = GradientCases()[GetParam()];
  GradientCase c(oc);
  c.Differentiate();
  std::mt19937 random(3);
  for (GradientCase::Operand& operand : c.operands()) {
    const bool table = operand.table_id >= 0;  // an embedding is linear in its table, so any step is exact
    const double h = table ? 1.0 / 1024 : 1e-6;
    const ops::Matrix& values = operand.values;
    const auto cells = static_cast<size_t>(values.rows) * static_cast<size_t>(values.cols);
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<double> direction(cells), kept(cells);
      double expected = 0, size = 0;
      for (size_t i = 0; i < cells; ++i) {
        const auto r = static_cast<int64_t>(i) / values.cols, col = static_cast<int64_t>(i) % values.cols;
        direction[i] = (random() >> 16 & 1u) != 0 ? 1 : -1;
        kept[i] = values(r, col);
        expected += direction[i] * operand.gradient(r, col);
        size += operand.gradient(r, col) * operand.gradient(r, col);
      }
      const auto moved = [&](double step) {
        for (size_t i = 0; i < cells; ++i) {
          values(static_cast<int64_t>(i) / values.cols, static_cast<int64_t>(i) % values.cols) =
              kept[i] + step * direction[i];
        }
        return c.Loss();
      };
      const double found = (moved(h) - moved(-h)) / (2 * h);
      moved(0);
      EXPECT_NEAR(found, expected, 1e-6 * (std::sqrt(size) + 1e-2)) << operand.name << ", direction " << turn;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, Gradients, ::testing::Range(size_t{0}, GradientCases().size()),
                         [](const ::testing::TestParamInfo<size_t>& info) {
                           return std::to_string(info.param) + "_" + GradientCases()[info.param].name();
                         });

}  // namespace
}  // namespace peruse::testing
