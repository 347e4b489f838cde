#include "core/ops/alibi_bias.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

// `kernel`: the longest distance and one.
void Biases(CaseProgram& p, const OpCase& c) {
  p.Add(ops::AlibiBias{c.kernel - 1, p.Output({Domain::kOne, 2 * c.kernel - 1}, c.heads)});
}

}  // namespace

void AddAlibiBiasCases(Cases& cases) {
  for (int32_t heads : {1, 2, 3, 6, 8, 12, 16}) {
    cases.push_back({.operation = "AlibiBias",
                     .write = Biases,
                     .lengths = kOneRow,
                     .heads = heads,
                     .kernel = 67,
                     .by_text = false});
  }
  cases.push_back({.operation = "AlibiBias",
                   .write = Biases,
                   .lengths = kOneRow,
                   .heads = 5,
                   .kernel = 1,
                   .strided_out = true,
                   .by_text = false});
}

}  // namespace peruse::testing
