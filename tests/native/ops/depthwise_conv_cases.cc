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
  AddKernelCases(name, Write, cases);
}

}  // namespace peruse::testing
