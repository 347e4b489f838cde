#include "core/ops/pool_rows.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

using Kind = ops::PoolRows::Kind;

// Pools one row, no rows, the first rows, the last rows, and all rows.
template <Kind kKind>
void Write(CaseProgram& p, const OpCase& c) {
  const int32_t rows = c.rows();
  const Value x = p.Tokens(c.cols);
  const IndexId begins = p.Indices(indices::Chosen{}, {rows / 2, 0, 0, rows - 2, 0});
  const IndexId counts = p.Indices(indices::Chosen{}, {1, 0, 3, 2, rows});
  p.Add(ops::PoolRows{x, begins, counts, 1, kKind, p.Output({Domain::kChosen, 1}, c.cols)});
}

void WriteBlocks(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(3 * c.cols);
  const IndexId begins = p.Indices(indices::Chosen{}, {0, 1, 5, 3});
  const IndexId counts = p.Indices(indices::Chosen{}, {1, 3, 0, c.rows() / 2});
  p.Add(ops::PoolRows{x, begins, counts, 4, Kind::kSum, p.Output({Domain::kChosen, 1}, c.cols)});
}

}  // namespace

void AddPoolRowsCases(Cases& cases) {
  const auto add = [&](const char* name, void (*write)(CaseProgram&, const OpCase&)) {
    for (int32_t cols : {1, 3, 4, 7, 33}) cases.push_back({name, write, {9}, cols, .by_text = false});
    cases.push_back({name, write, kRagged, 21, .strided_in = true, .strided_out = true, .by_text = false});
  };
  add("PoolRowsSum", Write<Kind::kSum>);
  add("PoolRowsMean", Write<Kind::kMean>);
  add("PoolRowsMax", Write<Kind::kMax>);
  add("PoolRowsAbsMean", Write<Kind::kAbsMean>);
  add("PoolRowsAbsMax", Write<Kind::kAbsMax>);
  add("PoolRowsRootMeanSquare", Write<Kind::kRootMeanSquare>);
  add("PoolRowsOfBlocks", WriteBlocks);
}

}  // namespace peruse::testing
