#include "core/ops/normalize.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

template <int kInverseEps>
void Write(CaseProgram& p, const OpCase& c) {
  p.Add(ops::Normalize{p.Tokens(c.cols), 1.0f / kInverseEps, p.Output({Domain::kTokens, 1}, c.cols)});
}

}  // namespace

void AddNormalizeCases(Cases& cases) {
  for (int32_t cols : {1, 3, 4, 7, 8, 33}) cases.push_back({"Normalize", Write<100000000>, {3}, cols});
  cases.push_back({"NormalizeShort", Write<1>, {5}, 3});
  cases.push_back({"Normalize", Write<100000000>, kRagged, 21, .strided_in = true, .strided_out = true});
}

}  // namespace peruse::testing
