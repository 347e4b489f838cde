#include "core/ops/rms_norm.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

// `heads` blocks of columns share the weight. With `broadcast`, the weights are stored minus 1.
void Write(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const float offset = c.broadcast ? 1.0f : 0.0f;
  const Value weight = p.Constant(1, c.cols / c.heads, 1 - offset);
  p.Add(ops::RmsNorm{x, weight, 1e-6f, offset, p.Output({Domain::kTokens, 1}, c.cols)});
}

}  // namespace

void AddRmsNormCases(Cases& cases) {
  for (const bool minus_one : {false, true}) {
    const auto add = [&](OpCase c) {
      c.operation = minus_one ? "RmsNormOffset" : "RmsNorm";
      c.write = Write;
      c.broadcast = minus_one;
      cases.push_back(c);
    };
    for (int32_t cols : {1, 3, 8, 37, 768}) add({.lengths = {4}, .cols = cols});
    add({.lengths = kRagged, .cols = 60, .heads = 5, .strided_in = true, .strided_out = true});
    add({.lengths = {9}, .cols = 256, .heads = 4});
    add({.lengths = {3}, .cols = 100, .offset = 1000});
  }
}

}  // namespace peruse::testing
