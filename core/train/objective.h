// What is learnt from an example, and how well it is known: losses by task, and the figures of a validation.
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
  kSingleLabel,  // one of the labels                 labels: [1]
  kSoftLabels,   // probabilities of all labels       targets: [labels]
  kMultiLabel,   // any number of the labels          targets: [labels], 0 or 1
  kRegression,   // a number for each label           targets: [labels]
  kTokens,       // a label for each token            labels: [tokens]
  kSpan,         // an answer in the text             labels: [2], its first and last token
  kMaskedWords,  // the words at the chosen places    labels: [chosen]
  kReplaced,     // which tokens are not the text's   targets: [tokens], 0 or 1
};

struct Example {
  std::vector<int32_t> ids;
  std::vector<int32_t> types;
  std::vector<int32_t> labels;
  std::vector<float> targets;
  int64_t number = -1;          // of the caller's example that it comes from, or -1
  std::vector<int32_t> chosen;  // tokens, ascending: of a text to be masked all that may be (masking.h)
  HeadLists
      read_labels;  // of a model that reads labels: their rows and the text's; such an example is a batch of its own
};

// The label that a model gives a text, and its probability.
struct Guess {
  int32_t label = 0;
  float score = 0;
};
// The largest of the logits, and its softmax.
Guess GuessOf(std::span<const float> logits);

// What validation says. Not a number: the goal has no such figure.
struct Metrics {
  double loss = 0;
  double
      accuracy;  // of texts (kSingleLabel, kSoftLabels), of tokens (kTokens, kReplaced), of words (kMaskedWords), of whole answers (kSpan)
  double f1;     // the mean of the labels' (macro); kReplaced: of what is replaced
  double error;  // mean square, kRegression
  int64_t examples = 0;
  std::vector<int64_t> confusion;  // [labels, labels], true by predicted; empty above kMostConfused labels
  std::vector<Guess> guesses;      // by text, in the order of Observe: kSingleLabel, kSoftLabels
};

// Labels above which no confusion matrix is kept.
inline constexpr int64_t kMostConfused = 1000;

class Objective {
 public:
  Objective(Goal goal, CrossEntropyOptions cross_entropy) : goal_(goal), cross_entropy_(cross_entropy) {}

  Goal goal() const { return goal_; }
  const CrossEntropyOptions& cross_entropy() const { return cross_entropy_; }
  // Who share the work of losses; they outlive this.
  void SetWorkers(const Workers& workers) { cross_entropy_.workers = &workers; }
  // Whether the goal's loss has all that the options ask of it.
  Status Check() const;
  // What the examples count for: losses of parts of a batch add up when each is divided by the mass of all.
  double Mass(std::span<const Example* const> examples, int64_t columns) const;
  // The part of the loss that these examples have, their logits being one batch; writes its gradient.
  double Loss(std::span<const Example* const> examples, const RaggedBatch& batch, const Block& logits, double mass,
              const Block& gradient);

  // Validation: Reset, Observe each batch, Finish.
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
  // Of a validation.
  int64_t columns_ = 0;
  double loss_ = 0, squares_ = 0;
  int64_t examples_ = 0, right_ = 0, seen_ = 0;
  std::vector<int64_t> confusion_, hits_, wrong_, missed_;
  std::vector<Guess> guesses_;
  std::vector<float> unused_;
};

}  // namespace peruse::train
