#include "core/ops/rotary_angles.h"
#include "core/ops/rotate.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

using Kind = ops::RotaryScaling::Kind;

// `kernel` is the distance between the positions of adjacent tokens.
void Angles(CaseProgram& p, const OpCase& c) {
  std::vector<int32_t> positions;
  for (int32_t t = 0; t < c.rows(); ++t) positions.push_back(t * c.kernel);
  ops::RotaryAngles op = {.theta = 160000};
  if (c.groups != 1) op.scaling = {.kind = Kind::kLinear, .factor = 1.067f};
  op.positions = p.Indices(indices::Positions{}, positions);
  op.out = p.Output({Domain::kTokens, 1}, 2 * c.cols);
  p.Add(op);
}

template <Kind kKind>
void Scaled(CaseProgram& p, const OpCase& c) {
  std::vector<int32_t> positions;
  for (const int32_t length : c.lengths) {
    for (int32_t t = 0; t < length; ++t) positions.push_back(t);
  }
  ops::RotaryAngles op = {.theta = 10000, .scaling = {.kind = kKind, .factor = 4}};
  if (kKind == Kind::kLlama3) op.scaling.low = 500, op.scaling.high = 20;
  if (kKind == Kind::kYarn) op.scaling.low = 1.5f, op.scaling.high = 5, op.scaling.amplitude = 1.3466f;
  if (kKind == Kind::kDynamic) op.scaling.original = 16;
  op.positions = p.Indices(indices::Positions{}, positions);
  op.out = p.Output({Domain::kTokens, 1}, 2 * c.cols + 2);
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
        {.operation = "RotaryAngles", .write = Angles, .lengths = {23}, .cols = 32, .kernel = step, .by_text = false});
  }
  cases.push_back({.operation = "RotaryAngles",
                   .write = Angles,
                   .lengths = {5},
                   .cols = 1,
                   .groups = 2,
                   .kernel = 3,
                   .strided_out = true,
                   .by_text = false});
  for (int32_t cols : {2, 7, 31}) {
    const auto add = [&](const char* name, WriteCase write) {
      cases.push_back(
          {.operation = name, .write = write, .lengths = {15, 1, 16, 17, 40}, .cols = cols, .by_text = false});
    };
    add("RotaryAnglesLlama3", Scaled<Kind::kLlama3>);
    add("RotaryAnglesYarn", Scaled<Kind::kYarn>);
    add("RotaryAnglesDynamic", Scaled<Kind::kDynamic>);
  }
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
