#include "core/ops/attention.h"

#include <algorithm>
#include <limits>

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

constexpr Extent kDistances = {Domain::kLongest, 2};  // 2 * longest - 1

bool IsTable(Value table, const Attention& op, const Shapes& s, int32_t cols) {
  if (!table.valid()) return true;
  if (!op.slots.valid() || s(op.slots).extent() != kDistances) return false;
  return s.Is(table, {Domain::kOne, s(op.slots).table_rows()}, cols);
}

struct Query {
  int32_t column;      // first column of the head's queries
  int32_t key_column;  // first column of its keys and values
  int32_t head;
  int32_t start;  // first row of the query's text
  int32_t length;
  int32_t keys;  // number of keys in its text
  int32_t i;     // the query's position in its text
};

void ForEachQuery(const Attention& op, const Numbers& n, const std::function<void(const Query&)>& visit) {
  const RaggedBatch& batch = *n.batch;
  const int32_t head_dim = n(op.query).cols / op.heads;
  const int32_t group = n(op.query).cols / n(op.key).cols;
  for (int32_t s = 0; s < batch.sequences(); ++s) {
    for (int32_t h = 0; h < op.heads; ++h) {
      for (int32_t i = 0; i < batch.length(s); ++i) {
        visit({h * head_dim, h / group * head_dim, h, batch.start(s), batch.length(s), batch.keys(s), i});
      }
    }
  }
}

// Returns query . key_j + position terms for each j, -infinity outside the window, and then the head's sink divided by the scale, if there is
// one. With `sizes`, sums absolute values of products.
std::vector<double> Scores(const Attention& op, const Numbers& n, const Query& q, bool sizes) {
  const int32_t head_dim = n(op.query).cols / op.heads;
  const auto dot = [&](Value a, int32_t i, Value b, int32_t j) {
    const double* x = &n(a)(i, a == op.key ? q.key_column : q.column);
    const double* y = &n(b)(j, b == op.key ? q.key_column : q.column);
    if (!sizes) return Dot(x, y, head_dim);
    double sum = 0;
    for (int32_t c = 0; c < head_dim; ++c) sum += std::fabs(x[c] * y[c]);
    return sum;
  };
  const double outside = sizes ? 0 : -std::numeric_limits<double>::infinity();
  std::vector<double> scores(static_cast<size_t>(q.length), outside);
  for (int32_t j = op.FirstKey(q.i); j < op.EndKey(q.i, q.keys); ++j) {
    double& score = scores[static_cast<size_t>(j)];
    score = dot(op.query, q.start + q.i, op.key, q.start + j);
    if (!op.slots.valid()) continue;
    const int32_t slot = n(op.slots)[static_cast<size_t>(q.i - j + n.batch->longest() - 1)];
    if (op.position_key.valid()) score += dot(op.query, q.start + q.i, op.position_key, slot);
    if (op.position_query.valid()) score += dot(op.key, q.start + j, op.position_query, slot);
    if (op.position_bias.valid()) {
      const double bias = n(op.position_bias)(slot, q.head) / op.scale;
      score += sizes ? std::fabs(bias) : bias;
    }
  }
  if (op.sinks.valid()) {
    const double sink = n(op.sinks)(0, q.head) / op.scale;
    scores.push_back(sizes ? std::fabs(sink) : sink);
  }
  return scores;
}

std::vector<double> Weights(const Attention& op, const Numbers& n, const Query& q) {
  std::vector<double> weights = Scores(op, n, q, /*sizes=*/false);
  for (double& weight : weights) weight *= op.scale;
  Softmax(weights);
  return weights;
}

int64_t ProbabilityRow(const Attention& op, const Query& q) {
  return int64_t{q.start} * op.heads + int64_t{q.head} * q.length + q.i;
}

}  // namespace

bool Fits(const Attention& op, const Shapes& s) {
  const int32_t width = s.cols(op.query);
  if (op.heads <= 0 || width % op.heads != 0 || !(op.scale >= 0)) return false;
  const int32_t key_width = s.cols(op.key);
  if (key_width <= 0 || width % key_width != 0 || key_width % (width / op.heads) != 0) return false;
  if (!s.Is(op.query, kTokenRows, width) || !s.Is(op.out, kTokenRows, width)) return false;
  if (!s.Is(op.key, kTokenRows, key_width) || !s.Is(op.value, kTokenRows, key_width)) return false;
  if (!IsTable(op.position_key, op, s, width) || !IsTable(op.position_query, op, s, width)) return false;
  if (!IsTable(op.position_bias, op, s, op.heads)) return false;
  const bool terms = op.position_key.valid() || op.position_query.valid();
  if (op.position_bias.valid() && (terms || !(op.scale > 0))) return false;
  if (op.slots.valid() && key_width != width) return false;
  if (op.before < 0 || op.after < 0 || (!op.SeesAllKeys() && (op.slots.valid() || !(op.scale > 0)))) return false;
  if (op.sinks.valid() && (!(op.scale > 0) || !s.Is(op.sinks, {Domain::kOne, 1}, op.heads))) return false;
  return !op.probabilities.valid() || s.Is(op.probabilities, {Domain::kTokens, op.heads}, {Domain::kLongest, 1});
}

void Compute(const Attention& op, const Numbers& n) {
  const int32_t head_dim = n(op.query).cols / op.heads;
  ForEachQuery(op, n, [&](const Query& q) {
    const std::vector<double> weights = Weights(op, n, q);
    for (int32_t c = 0; c < head_dim; ++c) {
      double sum = 0;
      for (int32_t j = 0; j < q.length; ++j) {
        sum += weights[static_cast<size_t>(j)] * n(op.value)(q.start + j, q.key_column + c);
      }
      n(op.out)(q.start + q.i, q.column + c) = sum;
    }
    if (!op.probabilities.valid()) return;
    const Matrix& probabilities = n(op.probabilities);
    for (int32_t j = 0; j < probabilities.cols; ++j) {
      probabilities(ProbabilityRow(op, q), j) = j < q.length ? weights[static_cast<size_t>(j)] : 0;
    }
  });
}

// Training refuses models with sinks (core/train/recipes/trainee.cc).
void Gradient(const Attention& op, const Numbers& n, const Gradients& g) {
  PERUSE_CHECK(!op.sinks.valid());
  const int32_t head_dim = n(op.query).cols / op.heads;
  ForEachQuery(op, n, [&](const Query& q) {
    const std::vector<double> weights = Weights(op, n, q);
    const int32_t query = q.start + q.i;
    // Computes the gradients of the attention weights first, then those of the scores.
    std::vector<double> gradients(weights.size());
    for (int32_t j = 0; j < q.length; ++j) {
      double& gradient = gradients[static_cast<size_t>(j)];
      gradient = Dot(&g(op.out)(query, q.column), &n(op.value)(q.start + j, q.key_column), head_dim);
      if (op.probabilities.valid()) gradient += g(op.probabilities)(ProbabilityRow(op, q), j);
      for (int32_t c = 0; c < head_dim; ++c) {
        g(op.value)(q.start + j, q.key_column + c) += weights[static_cast<size_t>(j)] * g(op.out)(query, q.column + c);
      }
    }
    const double mean = Dot(weights.data(), gradients.data(), q.length);
    for (int32_t j = 0; j < q.length; ++j) {
      const auto at = static_cast<size_t>(j);
      const double score = op.scale * weights[at] * (gradients[at] - mean);
      const auto add_product = [&](Value a, int32_t i, Value b, int32_t k) {
        const int32_t first = a == op.key ? q.key_column : q.column, second = b == op.key ? q.key_column : q.column;
        for (int32_t c = 0; c < head_dim; ++c) {
          g(a)(i, first + c) += score * n(b)(k, second + c);
          g(b)(k, second + c) += score * n(a)(i, first + c);
        }
      };
      add_product(op.query, query, op.key, q.start + j);
      if (!op.slots.valid()) continue;
      const int32_t slot = n(op.slots)[static_cast<size_t>(q.i - j + n.batch->longest() - 1)];
      if (op.position_key.valid()) add_product(op.query, query, op.position_key, slot);
      if (op.position_query.valid()) add_product(op.key, q.start + j, op.position_query, slot);
      if (op.position_bias.valid()) g(op.position_bias)(slot, q.head) += score / op.scale;
    }
  });
}

std::vector<double> Bound(const Attention& op, Value result, const Numbers& n) {
  const int32_t head_dim = n(op.query).cols / op.heads;
  const Matrix& out = n(result);
  std::vector<double> bounds(static_cast<size_t>(out.rows) * static_cast<size_t>(out.cols));
  double most = 0;
  ForEachQuery(op, n, [&](const Query& q) {
    const std::vector<double> sizes = Scores(op, n, q, /*sizes=*/true);
    const double largest = *std::max_element(sizes.begin(), sizes.end());
    most = std::max(most, largest);
    if (result == op.probabilities) return;
    const std::vector<double> weights = Weights(op, n, q);
    for (int32_t c = 0; c < head_dim; ++c) {
      double size = 0;
      for (int32_t j = 0; j < q.length; ++j) {
        size += weights[static_cast<size_t>(j)] * std::fabs(n(op.value)(q.start + j, q.key_column + c));
      }
      const size_t cell =
          static_cast<size_t>(q.start + q.i) * static_cast<size_t>(out.cols) + static_cast<size_t>(q.column + c);
      bounds[cell] = kEpsilon * (SoftmaxFactor(largest) + kDot) * size;
    }
  });
  if (result != op.probabilities) return bounds;
  return ForEachCell(out, [&](int32_t r, int32_t c) { return kEpsilon * SoftmaxFactor(most) * std::fabs(out(r, c)); });
}

}  // namespace peruse::ops
