#include "core/train/objective.h"

#include <algorithm>
#include <cmath>

namespace peruse::train {
namespace {

int32_t LargestOf(const float* values, int64_t count, int64_t stride = 1) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (values[i * stride] > values[best * stride]) best = i;
  }
  return static_cast<int32_t>(best);
}

}  // namespace

Guess GuessOf(std::span<const float> logits) {
  const int32_t label = LargestOf(logits.data(), static_cast<int64_t>(logits.size()));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit} - double{logits[static_cast<size_t>(label)]});
  return {label, static_cast<float>(1 / sum)};
}

Status Objective::Check() const {
  if (goal_ != Goal::kSingleLabel && !cross_entropy_.class_weights.empty()) {
    return Unsupported("option class_weights is for texts with one label each");
  }
  for (const float weight : cross_entropy_.class_weights) {
    if (!(weight > 0)) return InvalidArgument("option class_weights must have numbers above 0");
  }
  if (goal_ != Goal::kSingleLabel && goal_ != Goal::kTokens && cross_entropy_.smoothing != 0) {
    return Unsupported("option label_smoothing is for texts with one label each, and for entities");
  }
  return OkStatus();
}

double Objective::Mass(std::span<const Example* const> examples, int64_t columns) const {
  switch (goal_) {
    case Goal::kMultiLabel:
    case Goal::kRegression:
      return static_cast<double>(static_cast<int64_t>(examples.size()) * columns);
    case Goal::kReplaced: {
      size_t tokens = 0;
      for (const Example* example : examples) tokens += example->ids.size();
      return static_cast<double>(tokens);
    }
    case Goal::kSoftLabels:
    case Goal::kSpan:
      return static_cast<double>(examples.size());
    default: {
      double mass = 0;
      for (const Example* example : examples) mass += CrossEntropyMass(example->labels, cross_entropy_);
      return mass;
    }
  }
}

double Objective::Loss(std::span<const Example* const> examples, const RaggedBatch& batch, const Block& logits,
                       double mass, const Block& gradient) {
  labels_.clear();
  targets_.clear();
  ends_.clear();
  for (const Example* example : examples) {
    targets_.insert(targets_.end(), example->targets.begin(), example->targets.end());
    if (goal_ != Goal::kSpan) {
      labels_.insert(labels_.end(), example->labels.begin(), example->labels.end());
      continue;
    }
    labels_.push_back(example->labels[0]);
    ends_.push_back(example->labels[1]);
  }
  switch (goal_) {
    case Goal::kSoftLabels:
      return SoftCrossEntropy(logits, targets_, mass, gradient);
    case Goal::kMultiLabel:
    case Goal::kReplaced:
      return SigmoidCrossEntropy(logits, targets_, mass, gradient);
    case Goal::kRegression:
      return SquaredError(logits, targets_, mass, gradient);
    case Goal::kSpan:
      return SpanCrossEntropy(logits, batch, labels_, ends_, mass, gradient);
    default:
      return CrossEntropy(logits, labels_, cross_entropy_, mass, gradient);
  }
}

void Objective::Reset(int64_t columns) {
  columns_ = columns;
  loss_ = squares_ = 0;
  examples_ = right_ = seen_ = 0;
  const auto labels = static_cast<size_t>(columns);
  const bool classes = goal_ == Goal::kSingleLabel || goal_ == Goal::kSoftLabels || goal_ == Goal::kTokens;
  confusion_.assign(classes && columns <= kMostConfused ? labels * labels : 0, 0);
  guesses_.clear();
  hits_.assign(labels, 0);
  wrong_.assign(labels, 0);
  missed_.assign(labels, 0);
}

void Objective::Count(int32_t truth, const float* logits) {
  const int32_t guess = LargestOf(logits, columns_);
  ++seen_;
  if (!confusion_.empty()) ++confusion_[static_cast<size_t>(truth * columns_ + guess)];
  if (guess == truth) {
    ++right_;
    ++hits_[static_cast<size_t>(truth)];
  } else {
    ++wrong_[static_cast<size_t>(guess)];
    ++missed_[static_cast<size_t>(truth)];
  }
}

void Objective::Observe(std::span<const Example* const> examples, const RaggedBatch& batch, const Block& logits) {
  unused_.resize(static_cast<size_t>(logits.rows * logits.cols));
  loss_ += Loss(examples, batch, logits, /*mass=*/1, {unused_.data(), logits.rows, logits.cols, logits.cols});
  const bool by_token = goal_ == Goal::kTokens || goal_ == Goal::kSpan || goal_ == Goal::kReplaced;
  int64_t words = 0;
  for (size_t i = 0; i < examples.size(); ++i, ++examples_) {
    const Example& example = *examples[i];
    const int64_t row = by_token ? batch.start(static_cast<int32_t>(i)) : static_cast<int64_t>(i);
    const float* own = logits.row(row);
    switch (goal_) {
      case Goal::kSingleLabel:
        Count(example.labels[0], own);
        guesses_.push_back(GuessOf({own, static_cast<size_t>(columns_)}));
        break;
      case Goal::kSoftLabels:
        Count(LargestOf(example.targets.data(), columns_), own);
        guesses_.push_back(GuessOf({own, static_cast<size_t>(columns_)}));
        break;
      case Goal::kTokens:
        for (size_t t = 0; t < example.labels.size(); ++t) {
          if (example.labels[t] != kIgnored) Count(example.labels[t], logits.row(row + static_cast<int64_t>(t)));
        }
        break;
      case Goal::kMultiLabel:
        for (size_t c = 0; c < example.targets.size(); ++c) {
          const bool truth = example.targets[c] > 0.5f, guess = own[c] > 0;
          hits_[c] += truth && guess;
          wrong_[c] += guess && !truth;
          missed_[c] += truth && !guess;
        }
        break;
      case Goal::kRegression:
        for (size_t c = 0; c < example.targets.size(); ++c) {
          const double error = double{own[c]} - double{example.targets[c]};
          squares_ += error * error;
        }
        break;
      case Goal::kSpan: {
        const int32_t length = batch.length(static_cast<int32_t>(i));
        ++seen_;
        right_ += LargestOf(own, length, logits.stride) == example.labels[0] &&
                  LargestOf(own + 1, length, logits.stride) == example.labels[1];
        break;
      }
      case Goal::kMaskedWords:
        for (const int32_t word : example.labels) right_ += LargestOf(logits.row(words++), columns_) == word;
        seen_ += static_cast<int64_t>(example.labels.size());
        break;
      case Goal::kReplaced:
        for (size_t t = 0; t < example.targets.size(); ++t) {
          const bool truth = example.targets[t] > 0.5f, guess = logits.row(row + static_cast<int64_t>(t))[0] > 0;
          ++seen_;
          right_ += guess == truth;
          hits_[0] += truth && guess;
          wrong_[0] += guess && !truth;
          missed_[0] += truth && !guess;
        }
        break;
    }
  }
}

Metrics Objective::Finish(double mass) const {
  Metrics metrics;
  metrics.loss = loss_ / mass;
  metrics.examples = examples_;
  metrics.accuracy = seen_ > 0 ? static_cast<double>(right_) / static_cast<double>(seen_) : NAN;
  metrics.error = goal_ == Goal::kRegression ? squares_ / mass : NAN;
  metrics.confusion = confusion_;
  metrics.guesses = guesses_;
  double sum = 0;
  for (size_t c = 0; c < hits_.size(); ++c) {
    const int64_t all = 2 * hits_[c] + wrong_[c] + missed_[c];
    sum += all > 0 ? 2 * static_cast<double>(hits_[c]) / static_cast<double>(all) : 0;
  }
  const bool counted = goal_ == Goal::kMultiLabel || goal_ == Goal::kReplaced || goal_ == Goal::kSingleLabel ||
                       goal_ == Goal::kSoftLabels || goal_ == Goal::kTokens;
  metrics.f1 = counted ? sum / static_cast<double>(hits_.size()) : NAN;
  return metrics;
}

}  // namespace peruse::train
