// Zero-shot classification by entailment: any labels, by asking a model of natural-language inference whether the text entails
// "This example is <label>." (transformers' ZeroShotClassificationPipeline).
//
// A text that is too long is cut (the text alone, never the hypothesis), as in transformers. A hypothesis that leaves no
// room for a single token of the text is refused; transformers gives the model more tokens than it takes.
//
// Models that read labels have a task of their own (label_classification.h), with the same request and result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

struct ZeroShotRequest {
  std::vector<std::string> inputs;
  std::vector<std::string> candidate_labels;
  std::string hypothesis_template = "This example is {}.";  // the label goes to {}
  bool multi_label = false;                                 // judge each label by itself; else all scores sum to 1
};

// Best first.
struct ZeroShotScores {
  std::vector<std::string> labels;
  std::vector<float> scores;
};

// Orders labels by their scores, which are in the order of the labels.
ZeroShotScores BestLabels(const std::vector<std::string>& labels, std::vector<float> scores);

class ZeroShotClassification : public TaskOf<ZeroShotRequest, ZeroShotScores> {
 public:
  static constexpr Head kHead = Head::kSequenceClassification;
  explicit ZeroShotClassification(const TaskContext& context) : TaskOf(context) {}
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  Status CheckRequest() const;
  // Sets entailment_: the first label of label2id whose name begins with "entail", else of id2label.
  Status FindEntailment();
  // One sentence for each label, each short enough to leave room for the text.
  Result<std::vector<std::string>> Hypotheses() const;
  // The scores of one text's candidates from their logits, [candidates, labels].
  std::vector<float> Scores() const;

  size_t entailment_ = 0;      // a column of the logits
  std::vector<float> logits_;  // [candidates, labels] so far of the input that is being read
};

}  // namespace peruse
