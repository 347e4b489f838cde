// Operations of heads that read labels next to the text. They run once per text over few rows, so plain loops are fast enough.
#include <algorithm>
#include <cmath>

#include "core/cpu/activations.h"
#include "core/cpu/dot.h"
#include "core/cpu/norms.h"
#include "core/cpu/pool_rows.h"
#include "core/train/memory/tape.h"

namespace peruse::train {
namespace {

using cpu::Dot;

void AddScaled(const float* x, float scale, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] += scale * x[i];
}

using Kind = ops::PoolRows::Kind;

// Calls visit(source row, result row) for all inputs of a result; both are as wide as the result.
template <typename Visit>
void ForEachSource(const ops::PoolRows& op, const Tape& t, const Block& x, int64_t row, int64_t width, Visit visit) {
  const int64_t blocks = x.cols / width;
  for (int64_t j = 0; j < t.at(op.counts)[static_cast<size_t>(row)]; ++j) {
    const int64_t source = t.at(op.begins)[static_cast<size_t>(row)] + j * op.stride;
    visit(x.row(source / blocks) + source % blocks * width, source);
  }
}

float Slope(Kind kind, float value, float result, float count) {
  const float sign = value < 0 ? -1.0f : 1.0f;
  switch (kind) {
    case Kind::kSum:
      return 1;
    case Kind::kMean:
      return 1 / count;
    case Kind::kMax:
      return value == result ? 1.0f : 0.0f;
    case Kind::kAbsMean:
      return sign / count;
    case Kind::kAbsMax:
      return std::fabs(value) == result ? sign : 0.0f;
    case Kind::kRootMeanSquare:
      return result > 0 ? value / (count * result) : 0.0f;
  }
  return 0;
}

}  // namespace

template <>
void Forward(const ops::PoolRows& op, Tape& t) {
  const Block out = t.value(op.out);
  cpu::PoolRows(op, t.at(op.begins), t.at(op.counts), t.value(op.x), 0, out.rows, out);
}
// Ties go to the first maximum.
template <>
void Backward(const ops::PoolRows& op, Tape& t) {
  if (!t.wants(op.x)) return;
  const Block x = t.value(op.x), result = t.value(op.out), out = t.gradient(op.out), to = t.Accumulator(op.x);
  const int64_t blocks = x.cols / out.cols;
  for (int64_t r = 0; r < out.rows; ++r) {
    const auto count = static_cast<float>(t.at(op.counts)[static_cast<size_t>(r)]);
    for (int64_t c = 0; c < out.cols; ++c) {
      bool given = false;
      ForEachSource(op, t, x, r, out.cols, [&](const float* from, int64_t source) {
        const float slope = Slope(op.kind, from[c], result.row(r)[c], count);
        if (slope == 0 || (given && TakesLargest(op.kind))) return;
        given = true;
        to.row(source / blocks)[source % blocks * out.cols + c] += slope * out.row(r)[c];
      });
    }
  }
}

template <>
void Forward(const ops::Normalize& op, Tape& t) {
  const Block x = t.value(op.x), out = t.value(op.out);
  for (int64_t r = 0; r < x.rows; ++r) cpu::NormalizeRow(x.row(r), x.cols, op.eps, out.row(r));
}
// The gradient of x / |x| is (dy - y (y . dy)) / |x|; where eps replaces |x|, it is dy / eps.
template <>
void Backward(const ops::Normalize& op, Tape& t) {
  if (!t.wants(op.x)) return;
  const Block x = t.value(op.x), out = t.gradient(op.out), to = t.Accumulator(op.x);
  for (int64_t r = 0; r < x.rows; ++r) {
    const float length = std::sqrt(Dot(x.row(r), x.row(r), x.cols)), divisor = std::max(length, op.eps);
    // Uses y instead of x, so that a row with one column has exactly zero gradient.
    float along = 0;
    for (int64_t c = 0; length > op.eps && c < x.cols; ++c) along += x.row(r)[c] / divisor * out.row(r)[c];
    for (int64_t c = 0; c < x.cols; ++c) {
      to.row(r)[c] += (out.row(r)[c] - along * (x.row(r)[c] / divisor)) / divisor;
    }
  }
}

namespace {

// A head's attention weights. Softmax runs over lines: the keys of a query, or the queries of a key.
class CrossWeights {
 public:
  CrossWeights(const ops::CrossAttention& op, int64_t queries, int64_t keys, float* memory)
      : values(memory),
        over_queries_(op.over_queries),
        lines_(op.over_queries ? keys : queries),
        length_(op.over_queries ? queries : keys) {}

  // Returns the place of query i and key j in `values`.
  int64_t at(int64_t i, int64_t j) const { return over_queries_ ? j * length_ + i : i * length_ + j; }

  void Fill(const ops::CrossAttention& op, const Block& query, const Block& key) const {
    for (int64_t i = 0; i < query.rows; ++i) {
      for (int64_t j = 0; j < key.rows; ++j) values[at(i, j)] = Dot(query.row(i), key.row(j), query.cols);
    }
    for (int64_t line = 0; line < lines_; ++line) cpu::SoftmaxRow(values + line * length_, length_, op.scale);
  }
  void ToScores(float* gradients) const {
    for (int64_t first = 0; first < lines_ * length_; first += length_) {
      const float mean = Dot(values + first, gradients + first, length_);
      for (int64_t k = first; k < first + length_; ++k) gradients[k] = values[k] * (gradients[k] - mean);
    }
  }

  float* const values;

 private:
  const bool over_queries_;
  const int64_t lines_, length_;
};

Block HeadOf(const Block& block, int64_t head, int64_t heads) {
  return block ? block.Columns(head * (block.cols / heads), block.cols / heads) : block;
}

}  // namespace

template <>
void Forward(const ops::CrossAttention& op, Tape& t) {
  for (int64_t head = 0; head < op.heads; ++head) {
    const auto of = [&](Value value) { return HeadOf(t.value(value), head, op.heads); };
    const Block query = of(op.query), key = of(op.key), value = of(op.value), out = of(op.out);
    const CrossWeights weights(op, query.rows, key.rows, t.scratch());
    weights.Fill(op, query, key);
    Fill(out, 0);
    for (int64_t i = 0; i < query.rows; ++i) {
      for (int64_t j = 0; j < key.rows; ++j)
        AddScaled(value.row(j), weights.values[weights.at(i, j)], out.cols, out.row(i));
    }
  }
}
template <>
void Backward(const ops::CrossAttention& op, Tape& t) {
  const auto accumulator = [&](Value value) { return t.wants(value) ? t.Accumulator(value) : Block(); };
  const Block to_query = accumulator(op.query), to_key = accumulator(op.key), to_value = accumulator(op.value);
  for (int64_t head = 0; head < op.heads; ++head) {
    const auto of = [&](const Block& block) { return HeadOf(block, head, op.heads); };
    const Block query = of(t.value(op.query)), key = of(t.value(op.key)), value = of(t.value(op.value));
    const Block out = of(t.gradient(op.out)), dq = of(to_query), dk = of(to_key), dv = of(to_value);
    const CrossWeights weights(op, query.rows, key.rows, t.scratch());
    weights.Fill(op, query, key);
    float* const gradients = t.scratch() + query.rows * key.rows;
    for (int64_t i = 0; i < query.rows; ++i) {
      for (int64_t j = 0; j < key.rows; ++j) {
        gradients[weights.at(i, j)] = Dot(out.row(i), value.row(j), value.cols);
        if (dv) AddScaled(out.row(i), weights.values[weights.at(i, j)], value.cols, dv.row(j));
      }
    }
    weights.ToScores(gradients);
    for (int64_t i = 0; i < query.rows; ++i) {
      for (int64_t j = 0; j < key.rows; ++j) {
        const float score = op.scale * gradients[weights.at(i, j)];
        if (dq) AddScaled(key.row(j), score, key.cols, dq.row(i));
        if (dk) AddScaled(query.row(i), score, key.cols, dk.row(j));
      }
    }
  }
}

}  // namespace peruse::train
