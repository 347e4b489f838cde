#include "core/ops/multiply.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Write(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const Value y = c.broadcast ? p.Constant(1, c.cols) : p.Tokens(c.cols);
  p.Add(ops::Multiply{x, y, p.Output({Domain::kTokens, 1}, c.cols)});
}

void Gate(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols, 3);
  const Value y = c.broadcast ? p.Constant(1, c.cols) : p.Tokens(c.cols);
  p.Add(ops::Multiply{x, y, p.Output({Domain::kTokens, 1}, c.cols), c.activation});
}

}  // namespace

void AddMultiplyCases(Cases& cases) {
  AddPairCases("Multiply", Write, cases);
  for (const Activation activation : {Activation::kGelu, Activation::kSilu, Activation::kTanh}) {
    cases.push_back({.operation = "Gate", .write = Gate, .lengths = kRagged, .cols = 37, .activation = activation});
  }
  cases.push_back({.operation = "Gate",
                   .write = Gate,
                   .lengths = kRagged,
                   .cols = 21,
                   .activation = Activation::kGelu,
                   .strided_in = true,
                   .strided_out = true,
                   .broadcast = true});
}

}  // namespace peruse::testing
