#include "core/ops/select_rows.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Write(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const IndexId rows = p.Indices(indices::Chosen{}, {c.rows() - 1, 0, 0, c.rows() / 2});
  p.Add(ops::SelectRows{x, rows, p.Output({Domain::kChosen, 1}, c.cols)});
}

}  // namespace

void AddSelectRowsCases(Cases& cases) {
  for (int32_t cols : {1, 3, 4, 7, 8, 9, 33})
    cases.push_back({.operation = "SelectRows", .write = Write, .lengths = {3}, .cols = cols, .by_text = false});
  cases.push_back({.operation = "SelectRows",
                   .write = Write,
                   .lengths = kRagged,
                   .cols = 21,
                   .strided_in = true,
                   .strided_out = true,
                   .by_text = false});
}

}  // namespace peruse::testing
