#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

// One shader computes the scores of all queries, heads and keys into a buffer; a second one computes each column of the result.
template <>
void Record(Recording& r, const ops::CrossAttention& op) {
  const Tensor query_size = r.at(op.query);
  const Tensor key_size = r.at(op.key);
  const Tensor size = r.at(op.out);
  if (query_size.rows == 0 || key_size.rows == 0) return;
  const Recording::View query = r.Operand(op.query, op.out);
  const Recording::View key = r.Operand(op.key, op.out);
  const Recording::View value = r.Operand(op.value, op.out);
  const Recording::View scores = r.TakeMatrix(query_size.rows * op.heads, key_size.rows);
  if (r.failed()) return;
  const Recording::View out = r.Of(op.out);
  const auto queries = static_cast<uint32_t>(query_size.rows);
  const auto keys = static_cast<uint32_t>(key_size.rows);
  const auto heads = static_cast<uint32_t>(op.heads);
  const CrossScoresParams first = {op.scale,    queries,  keys, heads, static_cast<uint32_t>(query_size.cols) / heads,
                                   query.place, key.place};
  r.recorder().Dispatch("cross_scores", {}, first, {query.buffer, key.buffer, scores.buffer},
                        r.Elementwise(int64_t{query_size.rows} * op.heads * key_size.rows));
  const CrossContextParams second = {
      queries, keys, heads, static_cast<uint32_t>(size.cols), op.over_queries ? 1u : 0u, value.place, out.place};
  r.recorder().Dispatch("cross_context", {}, second, {scores.buffer, value.buffer, out.buffer},
                        r.Elementwise(int64_t{size.rows} * size.cols));
  r.GiveBack(scores.buffer);
}

template <>
void Expect(Recording& r, const Program&, const ops::CrossAttention&) {
  r.recorder().Expect("cross_scores", {});
  r.recorder().Expect("cross_context", {});
}

}  // namespace peruse::webgpu
