// For each head: packs keys and values, computes all scores as one product, and the context as another.
#include <algorithm>

#include "core/backend/cpu/runner.h"
#include "core/cpu/activations.h"
#include "core/cpu/gemm.h"

namespace peruse::cpu {
namespace {

constexpr int64_t kSlack = 16;  // floats after each row, for over-reads

}  // namespace

template <>
Status Run(Runner& r, const ops::CrossAttention& op) {
  const Block query = r.View(op.query);
  const Block key = r.View(op.key);
  const Block value = r.View(op.value);
  const Block out = r.View(op.out);
  if (query.rows == 0 || key.rows == 0) return OkStatus();
  const int64_t depth = query.cols / op.heads;
  const int64_t width = value.cols / op.heads;
  const int64_t key_floats = RoundUp(PackedFloats(depth, key.rows), kSlack);
  const int64_t value_floats = RoundUp(PackedFloats(key.rows, width), kSlack);
  const int64_t row = RoundUp(std::max(key.rows, query.rows), kSlack) + kSlack;
  const int64_t score_floats = (query.rows + 1) * row;  // one more row, to gather a column of scores
  const Scratch scratch(r, (key_floats + value_floats + score_floats) * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return NoWorkspace();
  float* const keys = scratch.floats();
  float* const values = keys + key_floats;
  float* const scores = values + value_floats;
  float* const column = scores + query.rows * row;
  for (int64_t head = 0; head < op.heads; ++head) {
    std::fill_n(keys, key_floats, 0.0f);
    PackColumns(key.data + head * depth, key.stride, depth, 0, key.rows, keys);
    PackMatrix(value.data + head * width, value.stride, key.rows, width, values);
    r.pool().ForRows(query.rows, kLeastRows, [&](int64_t first, int64_t end) {
      float* const own = scores + first * row;
      Gemm(query.row(first) + head * depth, query.stride, end - first, depth, keys, key.rows, own, row);
      if (op.over_queries) return;
      for (int64_t i = first; i < end; ++i) SoftmaxRow(scores + i * row, key.rows, op.scale);
    });
    for (int64_t j = 0; op.over_queries && j < key.rows; ++j) {
      for (int64_t i = 0; i < query.rows; ++i) column[i] = scores[i * row + j];
      SoftmaxRow(column, query.rows, op.scale);
      for (int64_t i = 0; i < query.rows; ++i) scores[i * row + j] = column[i];
    }
    r.pool().ForRows(query.rows, kLeastRows, [&](int64_t first, int64_t end) {
      Gemm(scores + first * row, row, end - first, key.rows, values, width, out.row(first) + head * width, out.stride);
    });
  }
  return OkStatus();
}

}  // namespace peruse::cpu
