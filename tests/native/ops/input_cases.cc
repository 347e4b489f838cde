#include "core/ops/input.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Write(CaseProgram& p, const OpCase& c) {
  const HostMatrix x = p.Operand(c.cols);
  const Value out = p.Output({Domain::kTokens, 1}, c.cols);
  p.Add(ops::Input{p.NextInput(), out});
  p.Bring(x.values);
}

}  // namespace

void AddInputCases(Cases& cases) {
  cases.push_back({.operation = "Input", .write = Write, .lengths = kRagged, .cols = 21});
  cases.push_back({.operation = "Input", .write = Write, .lengths = kRagged, .cols = 21, .strided_out = true});
}

}  // namespace peruse::testing
