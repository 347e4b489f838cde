#include "core/ops/depthwise_conv.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Write(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const Value taps = p.Constant(c.kernel, c.cols);
  p.Add(ops::DepthwiseConv{x, taps, p.Output({Domain::kTokens, 1}, c.cols)});
}

}  // namespace

void AddDepthwiseConvCases(Cases& cases) {
  const char* name = "DepthwiseConv";
  for (int32_t kernel : {1, 3, 5, 9, 31})
    cases.push_back({.operation = name, .write = Write, .lengths = kRagged, .cols = 21, .kernel = kernel});
  cases.push_back({.operation = name,
                   .write = Write,
                   .lengths = {5, 40},
                   .cols = 32,
                   .out = 24,
                   .heads = 2,
                   .kernel = 5,
                   .strided_in = true,
                   .strided_out = true,
                   .extra_output = true});
  cases.push_back(
      {.operation = name, .write = Write, .lengths = kOneRow, .cols = 32, .out = 24, .heads = 2, .kernel = 9});
}

}  // namespace peruse::testing
