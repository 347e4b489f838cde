#include "core/ops/add.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Write(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const Value y = c.broadcast ? p.Constant(1, c.cols) : p.Tokens(c.cols);
  p.Add(ops::Add{x, y, p.Output({Domain::kTokens, 1}, c.cols)});
}

}  // namespace

void AddAddCases(Cases& cases) { AddPairCases("Add", Write, cases); }

}  // namespace peruse::testing
