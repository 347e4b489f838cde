#include "core/ops/matmul.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Write(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const Value y = p.Constant(c.out, c.cols);
  p.Add(ops::MatMul{x, y, p.Output({Domain::kTokens, 1}, c.out)});
}

void WriteSquare(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const Value y = p.Tokens(c.cols);
  p.Add(ops::MatMul{x, y, p.Output({Domain::kTokens, 1}, Extent{Domain::kTokens, 1})});
}

}  // namespace

void AddMatMulCases(Cases& cases) {
  for (int32_t out : {1, 3, 4, 8, 17, 33}) cases.push_back({"MatMul", Write, kRagged, 21, out});
  for (int32_t cols : {1, 2, 4, 9, 64}) cases.push_back({"MatMul", Write, {3}, cols, 5});
  cases.push_back({"MatMul", Write, kRagged, 33, 20, .strided_in = true, .strided_out = true});
  cases.push_back({"MatMulSquare", WriteSquare, {40}, 24, .by_text = false});
}

}  // namespace peruse::testing
