#include "core/ops/multiply.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Write(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const Value y = c.broadcast ? p.Constant(1, c.cols) : p.Tokens(c.cols);
  p.Add(ops::Multiply{x, y, p.Output({Domain::kTokens, 1}, c.cols)});
}

}  // namespace

void AddMultiplyCases(Cases& cases) {
  for (int32_t cols : {1, 3, 4, 7, 8, 9, 33})
    cases.push_back({.operation = "Multiply", .write = Write, .lengths = {3}, .cols = cols});
  cases.push_back({.operation = "Multiply", .write = Write, .lengths = kRagged, .cols = 21, .broadcast = true});
  cases.push_back({.operation = "Multiply",
                   .write = Write,
                   .lengths = kRagged,
                   .cols = 21,
                   .strided_in = true,
                   .strided_out = true});
}

}  // namespace peruse::testing
