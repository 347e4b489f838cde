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

void AddMultiplyCases(Cases& cases) { AddPairCases("Multiply", Write, cases); }

}  // namespace peruse::testing
