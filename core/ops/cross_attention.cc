#include "core/ops/cross_attention.h"

#include <algorithm>

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

// A head's attention weights [queries, keys], and the largest sum of absolute products of a score, for error bounds.
struct Weights {
  std::vector<double> values;
  double largest_score = 0;
};

Weights WeightsOf(const CrossAttention& op, const Numbers& n, int32_t head) {
  const Matrix& query = n(op.query);
  const Matrix& key = n(op.key);
  const int32_t width = query.cols / op.heads;
  Weights weights = {std::vector<double>(static_cast<size_t>(query.rows) * static_cast<size_t>(key.rows))};
  const auto at = [&](int32_t i, int32_t j) -> double& {
    return weights.values[static_cast<size_t>(i) * static_cast<size_t>(key.rows) + static_cast<size_t>(j)];
  };
  for (int32_t i = 0; i < query.rows; ++i) {
    for (int32_t j = 0; j < key.rows; ++j) {
      const double* a = &query(i, int64_t{head} * width);
      const double* b = &key(j, int64_t{head} * width);
      double size = 0;
      for (int32_t c = 0; c < width; ++c) size += std::fabs(a[c] * b[c]);
      at(i, j) = static_cast<double>(op.scale) * Dot(a, b, width);
      weights.largest_score = std::max(weights.largest_score, std::fabs(static_cast<double>(op.scale)) * size);
    }
  }
  if (!op.over_queries) {
    for (int32_t i = 0; i < query.rows; ++i) Softmax({&at(i, 0), static_cast<size_t>(key.rows)});
    return weights;
  }
  std::vector<double> column(static_cast<size_t>(query.rows));
  for (int32_t j = 0; j < key.rows; ++j) {
    for (int32_t i = 0; i < query.rows; ++i) column[static_cast<size_t>(i)] = at(i, j);
    Softmax(column);
    for (int32_t i = 0; i < query.rows; ++i) at(i, j) = column[static_cast<size_t>(i)];
  }
  return weights;
}

// Calls visit(row, column, weights of that row in the column's head) for each cell.
template <typename Visit>
void ForEachResult(const CrossAttention& op, const Numbers& n, Visit visit) {
  const Matrix& value = n(op.value);
  const int32_t width = value.cols / op.heads;
  for (int32_t head = 0; head < op.heads; ++head) {
    const Weights weights = WeightsOf(op, n, head);
    for (int32_t i = 0; i < n(op.query).rows; ++i) {
      for (int32_t c = head * width; c < (head + 1) * width; ++c) {
        visit(i, c, weights, weights.values.data() + static_cast<ptrdiff_t>(i) * value.rows);
      }
    }
  }
}

}  // namespace

bool Fits(const CrossAttention& op, const Shapes& s) {
  return op.heads > 0 && s.cols(op.query) == s.cols(op.key) && s(op.key).rows == s(op.value).rows &&
         s.cols(op.query) % op.heads == 0 && s.cols(op.value) % op.heads == 0 &&
         s.Is(op.out, s(op.query).rows, s.cols(op.value));
}

void Compute(const CrossAttention& op, const Numbers& n) {
  const Matrix& value = n(op.value);
  ForEachResult(op, n, [&](int32_t i, int32_t c, const Weights&, const double* weights) {
    double sum = 0;
    for (int32_t j = 0; j < value.rows; ++j) sum += weights[j] * value(j, c);
    n(op.out)(i, c) = sum;
  });
}

// Gradients, where P are the attention weights, S the scores and O the result: dV = P^T dO, dP = dO V^T, dS = P (dP - sum of P dP along the
// softmax), dQ = scale dS K, dK = scale dS^T Q.
void Gradient(const CrossAttention& op, const Numbers& n, const Gradients& g) {
  const Matrix& query = n(op.query);
  const Matrix& key = n(op.key);
  const Matrix& value = n(op.value);
  const int32_t width = value.cols / op.heads, depth = query.cols / op.heads;
  for (int32_t head = 0; head < op.heads; ++head) {
    const Weights weights = WeightsOf(op, n, head);
    std::vector<double> gradients(weights.values.size());
    const auto at = [&](int32_t i, int32_t j) {
      return static_cast<size_t>(i) * static_cast<size_t>(key.rows) + static_cast<size_t>(j);
    };
    std::vector<double> means(static_cast<size_t>(std::max(query.rows, key.rows)));
    const auto line = [&](int32_t i, int32_t j) -> double& {
      return means[static_cast<size_t>(op.over_queries ? j : i)];
    };
    for (int32_t i = 0; i < query.rows; ++i) {
      for (int32_t j = 0; j < key.rows; ++j) {
        const double* out = &g(op.out)(i, int64_t{head} * width);
        gradients[at(i, j)] = Dot(out, &value(j, int64_t{head} * width), width);
        line(i, j) += weights.values[at(i, j)] * gradients[at(i, j)];
        for (int32_t c = 0; c < width; ++c)
          g(op.value)(j, int64_t{head} * width + c) += weights.values[at(i, j)] * out[c];
      }
    }
    for (int32_t i = 0; i < query.rows; ++i) {
      for (int32_t j = 0; j < key.rows; ++j) {
        const double score =
            static_cast<double>(op.scale) * weights.values[at(i, j)] * (gradients[at(i, j)] - line(i, j));
        for (int64_t c = int64_t{head} * depth; c < int64_t{head + 1} * depth; ++c) {
          g(op.query)(i, c) += score * key(j, c);
          g(op.key)(j, c) += score * query(i, c);
        }
      }
    }
  }
}

std::vector<double> Bound(const CrossAttention& op, Value result, const Numbers& n) {
  const Matrix& value = n(op.value);
  const Matrix& out = n(result);
  std::vector<double> bounds(static_cast<size_t>(out.rows) * static_cast<size_t>(out.cols));
  ForEachResult(op, n, [&](int32_t i, int32_t c, const Weights& weights, const double* row) {
    double size = 0;
    for (int32_t j = 0; j < value.rows; ++j) size += std::fabs(row[j] * value(j, c));
    bounds[static_cast<size_t>(i) * static_cast<size_t>(out.cols) + static_cast<size_t>(c)] =
        kEpsilon * (SoftmaxFactor(weights.largest_score) + kDot) * size;
  });
  return bounds;
}

}  // namespace peruse::ops
