#include "core/ops/embed.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

constexpr int32_t kTableRows = 7;

void Write(CaseProgram& p, const OpCase& c) {
  ops::Embed op;
  for (int32_t i = 0; i < c.kernel; ++i) {
    std::vector<int32_t> index;
    for (int32_t t = 0; t < c.rows(); ++t) index.push_back((t * (i + 2) + i) % kTableRows);
    op.lookups[static_cast<size_t>(i)] = p.Lookup(kTableRows, c.cols, index);
  }
  op.out = p.Output({Domain::kTokens, 1}, c.cols);
  p.Add(op);
}

}  // namespace

// `kernel` is the number of tables. One text: rows depend on their position in these indices, not on their text.
void AddEmbedCases(Cases& cases) {
  for (int32_t tables : {1, 2, 3})
    cases.push_back({.operation = "Embed", .write = Write, .lengths = {23}, .cols = 21, .kernel = tables});
  cases.push_back(
      {.operation = "Embed", .write = Write, .lengths = {23}, .cols = 21, .kernel = 3, .strided_out = true});
}

}  // namespace peruse::testing
