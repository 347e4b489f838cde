#include "core/ops/rotary_angles.h"
#include "core/ops/rotate.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

// `kernel` is the distance between the positions of adjacent tokens.
void Angles(CaseProgram& p, const OpCase& c) {
  std::vector<int32_t> positions;
  for (int32_t t = 0; t < c.rows(); ++t) positions.push_back(t * c.kernel);
  ops::RotaryAngles op = {.theta = 160000, .divisor = c.groups == 1 ? 1.0f : 1.067f};
  op.positions = p.Indices(indices::Positions{}, positions);
  op.out = p.Output({Domain::kTokens, 1}, c.cols);
  p.Add(op);
}

void Turn(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols * 2);
  const Value angles = p.Tokens(c.cols * 2 / c.heads);
  p.Add(ops::Rotate{x, angles, p.Output({Domain::kTokens, 1}, c.cols * 2)});
}

}  // namespace

void AddRotaryCases(Cases& cases) {
  // Positions far from zero reveal a sine without exact argument reduction.
  for (int32_t step : {1, 357}) {
    cases.push_back(
        {.operation = "RotaryAngles", .write = Angles, .lengths = {23}, .cols = 64, .kernel = step, .by_text = false});
  }
  cases.push_back({.operation = "RotaryAngles",
                   .write = Angles,
                   .lengths = {5},
                   .cols = 2,
                   .groups = 2,
                   .kernel = 3,
                   .strided_out = true,
                   .by_text = false});
  for (int32_t cols : {1, 3, 4, 7, 32, 33}) {
    cases.push_back({.operation = "Rotate", .write = Turn, .lengths = kRagged, .cols = cols});
  }
  cases.push_back({.operation = "Rotate",
                   .write = Turn,
                   .lengths = kRagged,
                   .cols = 36,
                   .heads = 3,
                   .strided_in = true,
                   .strided_out = true});
}

}  // namespace peruse::testing
