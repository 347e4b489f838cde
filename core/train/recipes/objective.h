#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/program/indices.h"
#include "core/tasks/outputs.h"
#include "core/tensor/ragged_batch.h"
#include "core/train/memory/tape.h"
#include "core/train/ops/loss.h"
#include "core/train/recipes/objective.h"

namespace peruse::train {

enum class Goal : uint8_t {
  kSingleLabel,  // one label                           labels: [1]
  kSoftLabels,   // probabilities of all labels       targets: [labels]
  kMultiLabel,   // any number of labels                targets: [labels], 0 or 1
  kRegression,   // a number per label                  targets: [labels]
  kTokens,       // a label per token                   labels: [tokens]
  kSpan,         // an answer in the text             labels: [2], its first and last token
  kMaskedWords,  // masked tokens at chosen positions   labels: [chosen]
  kReplaced,     // detection of replaced tokens        targets: [tokens], 0 or 1
};

struct Example {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;
  std::vector<int32_t> labels;
  std::vector<float> targets;
  int64_t number = -1;  // index of the caller's example, or -1
  // Positions of the tokens to score, ascending; before masking (pretraining.h), all positions that may be masked.
  std::vector<int32_t> chosen;
  HeadLists read_labels;  // for models that read labels: rows of labels and text; such an example is a batch of its own
};
using Part = std::vector<const Example*>;  // the examples of a batch

struct Guess {
  int32_t label = 0;
  float score = 0;
};
Guess GuessOf(std::span<const float> logits);

// Results of a validation. A metric is NaN if it does not exist for the goal.
struct Metrics {
  double loss = 0;
  double
      // Share of correct texts (kSingleLabel, kSoftLabels), tokens (kTokens, kReplaced, kMaskedWords) or whole answers (kSpan).
      accuracy;
  double f1;     // mean over the labels (macro); kReplaced: that of replaced tokens
  double error;  // mean squared error, for kRegression
  int64_t examples = 0;
  std::vector<int64_t> confusion;  // [labels, labels], true by predicted; empty above kMostConfused labels
  // for kSingleLabel and kSoftLabels: the prediction for each text, in the order of Observe
  std::vector<Guess> guesses;
};

inline constexpr int64_t kMostConfused = 1000;

// Loss and metrics of a goal. Each goal has a class of its own in objective.cc.
class Objective {
 public:
  // How the logits become probabilities, if a logistic regression can fit a text's label or labels.
  enum class Link : uint8_t { kNone, kSoftmax, kSigmoid };
  struct Traits {
    bool one_of_several = false;  // each row of logits is for one of several labels
    bool class_weights = false;   // whether the option class_weights applies
    bool smoothing = false;       // whether the option label_smoothing applies
    bool f1 = false;              // whether the metric f1 exists
    bool squared_error = false;   // whether the metric error exists
    bool masks = false;           // whether every update masks other tokens
    bool contrasts = false;       // whether each text has one certain label, so that pairs have the same label or not
    Link link = Link::kNone;
  };

  static std::unique_ptr<Objective> Create(Goal goal, const CrossEntropyOptions& cross_entropy);
  virtual ~Objective() = default;

  const Traits& traits() const { return traits_; }
  const CrossEntropyOptions& cross_entropy() const { return cross_entropy_; }
  // Sets the threads that share the computation of losses. They must outlive the object.
  void SetWorkers(const Workers& workers) { cross_entropy_.workers = &workers; }
  // Checks that all values that the options require are given, such as a weight for each class.
  Status Check() const;
  // Returns the number of rows of logits that an example has.
  virtual int64_t RowsOf(const Example&) const { return 1; }
  // Returns the total weight of the examples. Losses of parts of a batch, each divided by the batch's mass, add up.
  virtual double Mass(std::span<const Example* const> examples, int64_t columns) const = 0;
  // Returns these examples' part of the loss, and writes its gradient with respect to `logits`, which are one batch.
  virtual double Loss(std::span<const Example* const> examples, const RaggedBatch& batch, const Block& logits,
                      double mass, const Block& gradient) = 0;

  // For a validation, call Reset, Observe for each batch, and Finish.
  void Reset(int64_t columns);
  void Observe(std::span<const Example* const> examples, const RaggedBatch& batch, const Block& logits);
  Metrics Finish(double mass) const;

 protected:
  struct Counts {
    double loss = 0, squares = 0;
    int64_t examples = 0, right = 0, seen = 0;
    std::vector<int64_t> confusion, hits, wrong, missed;
    std::vector<Guess> guesses;
  };

  Objective(const Traits& traits, const CrossEntropyOptions& cross_entropy)
      : traits_(traits), cross_entropy_(cross_entropy) {}

  // Compares an example's rows of logits with its labels or targets.
  virtual void Count(const Example& example, const Block& logits) = 0;
  void CountLabel(int32_t truth, std::span<const float> logits);
  void CountFlag(size_t label, bool truth, bool guess);
  Counts& counts() { return counts_; }
  // Concatenates the targets of the examples. Valid until the next call.
  std::span<const float> TargetsOf(std::span<const Example* const> examples);

 private:
  const Traits traits_;
  CrossEntropyOptions cross_entropy_;
  Counts counts_;
  std::vector<float> targets_;
  std::vector<float> unused_;  // gradient of a validation
};

// A batch of examples as a program reads it. Views the examples of the last Fill.
class ExampleBatch {
 public:
  void Fill(const Part& part);
  const RaggedBatch& rows() const { return rows_; }
  BatchInputs inputs() const { return {texts_, rows_, chosen_, head_->inputs()}; }

 private:
  RaggedBatch rows_;
  std::vector<ModelInput> texts_;
  std::vector<int32_t> chosen_;
  const HeadLists* head_ = nullptr;  // an example with lists is always the only one in its batch
};

}  // namespace peruse::train
