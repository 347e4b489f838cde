#include "core/ops/cross_attention.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

// `out` is the number of keys.
template <bool kOverQueries>
void Write(CaseProgram& p, const OpCase& c) {
  const Value query = p.Tokens(c.cols);
  const Value key = p.Constant(c.out, c.cols);
  const Value value = p.Constant(c.out, 2 * c.cols);
  p.Add(
      ops::CrossAttention{query, key, value, c.heads, 0.5f, kOverQueries, p.Output({Domain::kTokens, 1}, 2 * c.cols)});
}

}  // namespace

void AddCrossAttentionCases(Cases& cases) {
  for (int32_t keys : {1, 3, 4, 17, 40}) {
    cases.push_back({"CrossAttention", Write<false>, {19}, 12, keys, .heads = 3, .by_text = false});
  }
  cases.push_back({"CrossAttention", Write<false>, kOneRow, 16, 5, .heads = 2, .by_text = false});
  cases.push_back({"CrossAttention", Write<false>, kRagged, 24, 9, .heads = 4, .strided_in = true, .strided_out = true,
                   .by_text = false});
  for (int32_t keys : {1, 3, 9}) {
    cases.push_back({"CrossAttentionOverQueries", Write<true>, {19}, 12, keys, .heads = 3, .by_text = false});
  }
}

}  // namespace peruse::testing
