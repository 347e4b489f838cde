// Converts logits to probabilities, in place. Sums in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/elementary.h"

namespace peruse {

inline void Softmax(std::span<float> values) {
  if (values.empty()) return;
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (float value : values) sum += Exponential(value - largest);
  for (float& value : values) value = static_cast<float>(Exponential(value - largest) / sum);
}

inline void Sigmoid(std::span<float> values) {
  for (float& value : values) value = static_cast<float>(1.0 / (1.0 + Exponential(-static_cast<double>(value))));
}

enum class ScoreFunction { kSigmoid, kNone, kSoftmax };
inline constexpr std::string_view kScoreFunctions[] = {"sigmoid", "none", "softmax"};  // in the order of the values

inline void Apply(ScoreFunction function, std::span<float> values) {
  if (function == ScoreFunction::kSoftmax) Softmax(values);
  if (function == ScoreFunction::kSigmoid) Sigmoid(values);
}

// Returns a number that orders texts as their scores for `column` do, and also where scores are equal because float32 rounds them to 0 or 1:
// the logit, or for a softmax the logarithm of the odds.
inline double OrderingScore(ScoreFunction function, std::span<const float> logits, size_t column) {
  if (function != ScoreFunction::kSoftmax || logits.size() < 2) return logits[column];
  double largest = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (i != column) largest = std::max(largest, static_cast<double>(logits[i]));
  }
  double others = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (i != column) others += Exponential(logits[i] - largest);
  }
  return logits[column] - largest - NaturalLog(others);
}

template <typename Score>
std::vector<size_t> BestOf(std::span<const Score> scores, size_t limit) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t kept = limit == 0 ? order.size() : std::min(limit, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(kept), order.end(),
                    [&](size_t a, size_t b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  order.resize(kept);
  return order;
}

// Returns the indices of `scores` in descending order of score, then ascending index: up to `limit`, or all if it is 0.
inline std::vector<size_t> BestFirst(std::span<const float> scores, size_t limit = 0) { return BestOf(scores, limit); }
inline std::vector<size_t> BestFirst(std::span<const double> scores, size_t limit = 0) { return BestOf(scores, limit); }

}  // namespace peruse
