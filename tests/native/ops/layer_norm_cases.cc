#include "core/ops/layer_norm.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Plain(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const NormArgs norm = p.Norm(c.cols);
  p.Add(ops::LayerNorm{.x = x, .norm = norm, .out = p.Output({Domain::kTokens, 1}, c.cols)});
}

void OfSum(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const Value residual = p.Tokens(c.cols);
  const NormArgs norm = p.Norm(c.cols);
  p.Add(ops::LayerNorm{.x = x, .residual = residual, .norm = norm, .out = p.Output({Domain::kTokens, 1}, c.cols)});
}

void WithoutBias(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const NormArgs norm = {p.Constant(1, c.cols, 1), {}, 1e-5f};
  p.Add(ops::LayerNorm{.x = x, .norm = norm, .out = p.Output({Domain::kTokens, 1}, c.cols)});
}

}  // namespace

void AddLayerNormCases(Cases& cases) {
  for (const bool sum : {false, true}) {
    const char* name = sum ? "AddNorm" : "LayerNorm";
    const auto write = sum ? OfSum : Plain;
    for (int32_t cols : {1, 2, 3, 7, 8, 9, 31, 768})
      cases.push_back({.operation = name, .write = write, .lengths = {4}, .cols = cols});
    cases.push_back(
        {.operation = name, .write = write, .lengths = kRagged, .cols = 37, .strided_in = true, .strided_out = true});
    // Nearly equal values: computing the variance from a sum of squares would lose all digits.
    cases.push_back({.operation = name, .write = write, .lengths = {3}, .cols = 100, .offset = 1000});
  }
  for (int32_t cols : {1, 37, 768}) {
    cases.push_back({.operation = "LayerNormWithoutBias", .write = WithoutBias, .lengths = {4}, .cols = cols});
  }
}

}  // namespace peruse::testing
