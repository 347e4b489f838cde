#include "core/ops/conv1d.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Write(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const LinearId weight = p.Linear(c.kernel * c.cols, c.out);
  p.Add(ops::Conv1d{x, weight, c.kernel, c.activation, p.Output({Domain::kTokens, 1}, c.out)});
}

}  // namespace

void AddConv1dCases(Cases& cases) {
  const char* name = "Conv1d";
  for (int32_t kernel : {1, 3, 5, 9, 31})
    cases.push_back({.operation = name, .write = Write, .lengths = kRagged, .cols = 10, .out = 14, .kernel = kernel});
  AddKernelCases(name, Write, cases);
  for (int32_t groups : {2, 4}) {
    cases.push_back({.operation = name,
                     .write = Write,
                     .lengths = kRagged,
                     .cols = 24,
                     .out = 20,
                     .groups = groups,
                     .kernel = 3,
                     .activation = Activation::kGelu});
  }
  cases.push_back({.operation = name,
                   .write = Write,
                   .lengths = kRagged,
                   .cols = 24,
                   .out = 20,
                   .groups = 2,
                   .kernel = 3,
                   .half_weights = true});
  for (bool wide : {false, true}) {
    for (int32_t groups : {1, 2}) {
      cases.push_back({.operation = name,
                       .write = Write,
                       .lengths = kRagged,
                       .cols = 24,
                       .out = 20,
                       .groups = groups,
                       .kernel = 3,
                       .activation = Activation::kGelu,
                       .q8 = true,
                       .wide_input = wide});
    }
  }
}

}  // namespace peruse::testing
