#include "core/train/recipes/objective.h"

#include <algorithm>
#include <cmath>

namespace peruse::train {
namespace {

using Examples = std::span<const Example* const>;

int32_t LargestOf(const float* values, int64_t count, int64_t stride = 1) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (values[i * stride] > values[best * stride]) best = i;
  }
  return static_cast<int32_t>(best);
}

std::span<const float> RowOf(const Block& logits, int64_t row = 0) {
  return {logits.row(row), static_cast<size_t>(logits.cols)};
}

double CountOf(Examples examples) { return static_cast<double>(examples.size()); }

double CountOfTokens(Examples examples) {
  size_t tokens = 0;
  for (const Example* example : examples) tokens += example->ids.size();
  return static_cast<double>(tokens);
}

// Cross-entropy with one label for each row.
class LabelObjective : public Objective {
 public:
  using Objective::Objective;

  double Mass(Examples examples, int64_t) const override {
    double mass = 0;
    for (const Example* example : examples) mass += CrossEntropyMass(example->labels, cross_entropy());
    return mass;
  }
  double Loss(Examples examples, const RaggedBatch&, const Block& logits, double mass, const Block& gradient) override {
    labels_.clear();
    for (const Example* example : examples) {
      labels_.insert(labels_.end(), example->labels.begin(), example->labels.end());
    }
    return CrossEntropy(logits, labels_, cross_entropy(), mass, gradient);
  }

 private:
  std::vector<int32_t> labels_;
};

class SingleLabel : public LabelObjective {
 public:
  explicit SingleLabel(const CrossEntropyOptions& options)
      : LabelObjective({.one_of_several = true,
                        .class_weights = true,
                        .smoothing = true,
                        .f1 = true,
                        .contrasts = true,
                        .link = Link::kSoftmax},
                       options) {}

 private:
  void Count(const Example& example, const Block& logits) override {
    CountLabel(example.labels[0], RowOf(logits));
    counts().guesses.push_back(GuessOf(RowOf(logits)));
  }
};

class SoftLabels : public Objective {
 public:
  explicit SoftLabels(const CrossEntropyOptions& options)
      : Objective({.one_of_several = true, .f1 = true, .link = Link::kSoftmax}, options) {}

  double Mass(Examples examples, int64_t) const override { return CountOf(examples); }
  double Loss(Examples examples, const RaggedBatch&, const Block& logits, double mass, const Block& gradient) override {
    return SoftCrossEntropy(logits, TargetsOf(examples), mass, gradient);
  }

 private:
  void Count(const Example& example, const Block& logits) override {
    CountLabel(LargestOf(example.targets.data(), logits.cols), RowOf(logits));
    counts().guesses.push_back(GuessOf(RowOf(logits)));
  }
};

class MultiLabel : public Objective {
 public:
  explicit MultiLabel(const CrossEntropyOptions& options) : Objective({.f1 = true, .link = Link::kSigmoid}, options) {}

  double Mass(Examples examples, int64_t columns) const override {
    return CountOf(examples) * static_cast<double>(columns);
  }
  double Loss(Examples examples, const RaggedBatch&, const Block& logits, double mass, const Block& gradient) override {
    return SigmoidCrossEntropy(logits, TargetsOf(examples), mass, gradient);
  }

 private:
  void Count(const Example& example, const Block& logits) override {
    for (size_t c = 0; c < example.targets.size(); ++c) CountFlag(c, example.targets[c] > 0.5f, logits.row(0)[c] > 0);
  }
};

class Regression : public Objective {
 public:
  explicit Regression(const CrossEntropyOptions& options) : Objective({.squared_error = true}, options) {}

  double Mass(Examples examples, int64_t columns) const override {
    return CountOf(examples) * static_cast<double>(columns);
  }
  double Loss(Examples examples, const RaggedBatch&, const Block& logits, double mass, const Block& gradient) override {
    return SquaredError(logits, TargetsOf(examples), mass, gradient);
  }

 private:
  void Count(const Example& example, const Block& logits) override {
    for (size_t c = 0; c < example.targets.size(); ++c) {
      const double error = double{logits.row(0)[c]} - double{example.targets[c]};
      counts().squares += error * error;
    }
  }
};

class Tokens : public LabelObjective {
 public:
  explicit Tokens(const CrossEntropyOptions& options)
      : LabelObjective({.one_of_several = true, .smoothing = true, .f1 = true}, options) {}

  int64_t RowsOf(const Example& example) const override { return static_cast<int64_t>(example.ids.size()); }

 private:
  void Count(const Example& example, const Block& logits) override {
    for (size_t t = 0; t < example.labels.size(); ++t) {
      if (example.labels[t] != kIgnored) CountLabel(example.labels[t], RowOf(logits, static_cast<int64_t>(t)));
    }
  }
};

class Answer : public Objective {
 public:
  explicit Answer(const CrossEntropyOptions& options) : Objective({}, options) {}

  int64_t RowsOf(const Example& example) const override { return static_cast<int64_t>(example.ids.size()); }
  double Mass(Examples examples, int64_t) const override { return CountOf(examples); }
  double Loss(Examples examples, const RaggedBatch& batch, const Block& logits, double mass,
              const Block& gradient) override {
    starts_.clear();
    ends_.clear();
    for (const Example* example : examples) {
      starts_.push_back(example->labels[0]);
      ends_.push_back(example->labels[1]);
    }
    return SpanCrossEntropy(logits, batch, starts_, ends_, mass, gradient);
  }

 private:
  void Count(const Example& example, const Block& logits) override {
    ++counts().seen;
    counts().right += LargestOf(logits.data, logits.rows, logits.stride) == example.labels[0] &&
                      LargestOf(logits.data + 1, logits.rows, logits.stride) == example.labels[1];
  }

  std::vector<int32_t> starts_, ends_;
};

class MaskedWords : public LabelObjective {
 public:
  explicit MaskedWords(const CrossEntropyOptions& options) : LabelObjective({.masks = true}, options) {}

  int64_t RowsOf(const Example& example) const override { return static_cast<int64_t>(example.labels.size()); }

 private:
  void Count(const Example& example, const Block& logits) override {
    for (int64_t i = 0; i < logits.rows; ++i) {
      counts().right += LargestOf(logits.row(i), logits.cols) == example.labels[static_cast<size_t>(i)];
    }
    counts().seen += logits.rows;
  }
};

class Replaced : public Objective {
 public:
  explicit Replaced(const CrossEntropyOptions& options) : Objective({.f1 = true, .masks = true}, options) {}

  int64_t RowsOf(const Example& example) const override { return static_cast<int64_t>(example.ids.size()); }
  double Mass(Examples examples, int64_t) const override { return CountOfTokens(examples); }
  double Loss(Examples examples, const RaggedBatch&, const Block& logits, double mass, const Block& gradient) override {
    return SigmoidCrossEntropy(logits, TargetsOf(examples), mass, gradient);
  }

 private:
  void Count(const Example& example, const Block& logits) override {
    for (int64_t t = 0; t < logits.rows; ++t) {
      const bool truth = example.targets[static_cast<size_t>(t)] > 0.5f, guess = logits.row(t)[0] > 0;
      ++counts().seen;
      counts().right += guess == truth;
      CountFlag(0, truth, guess);
    }
  }
};

}  // namespace

Guess GuessOf(std::span<const float> logits) {
  const int32_t label = LargestOf(logits.data(), static_cast<int64_t>(logits.size()));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit} - double{logits[static_cast<size_t>(label)]});
  return {label, static_cast<float>(1 / sum)};
}

std::unique_ptr<Objective> Objective::Create(Goal goal, const CrossEntropyOptions& cross_entropy) {
  switch (goal) {
    case Goal::kSingleLabel:
      return std::make_unique<SingleLabel>(cross_entropy);
    case Goal::kSoftLabels:
      return std::make_unique<SoftLabels>(cross_entropy);
    case Goal::kMultiLabel:
      return std::make_unique<MultiLabel>(cross_entropy);
    case Goal::kRegression:
      return std::make_unique<Regression>(cross_entropy);
    case Goal::kTokens:
      return std::make_unique<Tokens>(cross_entropy);
    case Goal::kSpan:
      return std::make_unique<Answer>(cross_entropy);
    case Goal::kMaskedWords:
      return std::make_unique<MaskedWords>(cross_entropy);
    case Goal::kReplaced:
      return std::make_unique<Replaced>(cross_entropy);
  }
  return nullptr;
}

Status Objective::Check() const {
  if (!traits_.class_weights && !cross_entropy_.class_weights.empty()) {
    return Unsupported("option class_weights is for texts with one label each");
  }
  for (const float weight : cross_entropy_.class_weights) {
    if (!(weight > 0)) return InvalidArgument("option class_weights must have numbers above 0");
  }
  if (!traits_.smoothing && cross_entropy_.smoothing != 0) {
    return Unsupported("option label_smoothing is for texts with one label each, and for entities");
  }
  return OkStatus();
}

std::span<const float> Objective::TargetsOf(Examples examples) {
  targets_.clear();
  for (const Example* example : examples) {
    targets_.insert(targets_.end(), example->targets.begin(), example->targets.end());
  }
  return targets_;
}

void Objective::Reset(int64_t columns) {
  const auto labels = static_cast<size_t>(columns);
  counts_ = {};
  counts_.confusion.resize(traits_.one_of_several && columns <= kMostConfused ? labels * labels : 0);
  counts_.hits.resize(labels);
  counts_.wrong.resize(labels);
  counts_.missed.resize(labels);
}

void Objective::CountLabel(int32_t truth, std::span<const float> logits) {
  const int32_t guess = LargestOf(logits.data(), static_cast<int64_t>(logits.size()));
  ++counts_.seen;
  if (!counts_.confusion.empty()) {
    ++counts_.confusion[static_cast<size_t>(truth) * logits.size() + static_cast<size_t>(guess)];
  }
  if (guess == truth) {
    ++counts_.right;
    ++counts_.hits[static_cast<size_t>(truth)];
  } else {
    ++counts_.wrong[static_cast<size_t>(guess)];
    ++counts_.missed[static_cast<size_t>(truth)];
  }
}

void Objective::CountFlag(size_t label, bool truth, bool guess) {
  counts_.hits[label] += truth && guess;
  counts_.wrong[label] += guess && !truth;
  counts_.missed[label] += truth && !guess;
}

void Objective::Observe(Examples examples, const RaggedBatch& batch, const Block& logits) {
  unused_.resize(static_cast<size_t>(logits.rows * logits.cols));
  counts_.loss += Loss(examples, batch, logits, /*mass=*/1, {unused_.data(), logits.rows, logits.cols, logits.cols});
  int64_t row = 0;
  for (const Example* example : examples) {
    const int64_t rows = RowsOf(*example);
    Count(*example, logits.Rows(row, rows));
    row += rows;
    ++counts_.examples;
  }
}

Metrics Objective::Finish(double mass) const {
  Metrics metrics;
  metrics.loss = counts_.loss / mass;
  metrics.examples = counts_.examples;
  metrics.accuracy = counts_.seen > 0 ? static_cast<double>(counts_.right) / static_cast<double>(counts_.seen) : NAN;
  metrics.error = traits_.squared_error ? counts_.squares / mass : NAN;
  metrics.confusion = counts_.confusion;
  metrics.guesses = counts_.guesses;
  double sum = 0;
  for (size_t c = 0; c < counts_.hits.size(); ++c) {
    const int64_t all = 2 * counts_.hits[c] + counts_.wrong[c] + counts_.missed[c];
    sum += all > 0 ? 2 * static_cast<double>(counts_.hits[c]) / static_cast<double>(all) : 0;
  }
  metrics.f1 = traits_.f1 ? sum / static_cast<double>(counts_.hits.size()) : NAN;
  return metrics;
}

void ExampleBatch::Fill(const Part& part) {
  rows_.Clear();
  texts_.clear();
  chosen_.clear();
  head_ = &part[0]->read_labels;
  for (const Example* example : part) {
    for (const int32_t place : example->chosen) chosen_.push_back(rows_.rows() + place);
    texts_.push_back({example->ids, example->types});
    rows_.Append(static_cast<int32_t>(example->ids.size()));
  }
}

}  // namespace peruse::train
