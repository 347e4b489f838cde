#include <cmath>

#include "core/ops/lstm.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void WriteFrom(CaseProgram& p, const OpCase& c, bool reverse) {
  const Value gates = p.Tokens(4 * c.cols);
  // Weights in the range of torch.nn.LSTM's initial ones. With larger weights a long sequence would amplify rounding errors.
  const Value recurrent = p.Constant(c.cols, 4 * c.cols, 0, 1 / std::sqrt(static_cast<float>(c.cols)));
  const Value bias = p.Constant(1, 4 * c.cols);
  p.Add(ops::Lstm{gates, recurrent, bias, reverse, p.Output({Domain::kTokens, 1}, c.cols)});
}
void WriteForward(CaseProgram& p, const OpCase& c) { WriteFrom(p, c, false); }
void WriteReverse(CaseProgram& p, const OpCase& c) { WriteFrom(p, c, true); }

}  // namespace

void AddLstmCases(Cases& cases) {
  for (int32_t cols : {1, 3, 4, 7, 8, 33}) cases.push_back({"Lstm", WriteForward, {9}, cols, .by_text = false});
  cases.push_back({"Lstm", WriteForward, kOneRow, 5, .by_text = false});
  cases.push_back({"LstmReverse", WriteReverse, {12}, 16, .by_text = false});
  cases.push_back({"LstmReverse", WriteReverse, {12}, 16, .strided_in = true, .strided_out = true, .by_text = false});
}

}  // namespace peruse::testing
