#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/tasks/outputs.h"
#include "core/tensor/ragged_batch.h"
#include "core/train/loss.h"
#include "core/train/tape.h"

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
  // Positions of the tokens to score, ascending; before masking (masking.h), all positions that may be masked.
  std::vector<int32_t> chosen;
  HeadLists read_labels;  // for models that read labels: rows of labels and text; such an example is a batch of its own
};

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

class Objective {
 public:
  Objective(Goal goal, CrossEntropyOptions cross_entropy) : goal_(goal), cross_entropy_(cross_entropy) {}

  Goal goal() const { return goal_; }
  const CrossEntropyOptions& cross_entropy() const { return cross_entropy_; }
  // Sets the threads that share the computation of losses. They must outlive the object.
  void SetWorkers(const Workers& workers) { cross_entropy_.workers = &workers; }
  // Checks that all values that the options require are given, such as a weight for each class.
  Status Check() const;
  // Returns the total weight of the examples. Losses of parts of a batch, each divided by the batch's mass, add up.
  double Mass(std::span<const Example* const> examples, int64_t columns) const;
  // Returns these examples' part of the loss, and writes its gradient with respect to `logits`, which are one batch.
  double Loss(std::span<const Example* const> examples, const RaggedBatch& batch, const Block& logits, double mass,
              const Block& gradient);

  // For a validation, call Reset, Observe for each batch, and Finish.
  void Reset(int64_t columns);
  void Observe(std::span<const Example* const> examples, const RaggedBatch& batch, const Block& logits);
  Metrics Finish(double mass) const;

 private:
  void Count(int32_t truth, const float* logits);

  const Goal goal_;
  CrossEntropyOptions cross_entropy_;
  std::vector<int32_t> labels_;
  std::vector<float> targets_;
  std::vector<int32_t> ends_;
  int64_t columns_ = 0;
  double loss_ = 0, squares_ = 0;
  int64_t examples_ = 0, right_ = 0, seen_ = 0;
  std::vector<int64_t> confusion_, hits_, wrong_, missed_;
  std::vector<Guess> guesses_;
  std::vector<float> unused_;
};

}  // namespace peruse::train
