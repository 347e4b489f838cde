// Every operation's gradient against central differences of its meaning, over the list of cases.
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
    // No backend runs a concatenation, so the list of cases lacks it.
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

// Each operand moves along random directions; what the loss then does is the gradient's part in them. The difference is exact to h^2
// and to 1e-16 / h of the loss; of a gradient that is wrong in one cell, the direction shows all of it.
TEST_P(Gradients, AgreeWithCentralDifferences) {
  const OpCase& oc = GradientCases()[GetParam()];
  GradientCase c(oc);
  c.Differentiate();
  std::mt19937 random(3);
  for (GradientCase::Operand& operand : c.operands()) {
    const bool table = operand.table_id >= 0;  // floats, of which an embedding is a linear function: any step will do
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
