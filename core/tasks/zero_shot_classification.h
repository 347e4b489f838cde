// Zero-shot classification: any labels, by asking a model of natural-language inference whether the text entails
// "This example is <label>." (transformers' ZeroShotClassificationPipeline).
//
// A text that is too long is cut (the text alone, never the hypothesis), as in the reference. A hypothesis that leaves no
// room for a single token of the text is refused; the reference gives the model more tokens than it takes.
//
// With a GLiClass model: all labels at once (the package's ZeroShotClassificationPipeline). Scores depend on the order of the
// labels, and on which others there are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/label_reader.h"
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

class ZeroShotClassification : public TaskOf<ZeroShotRequest, ZeroShotScores> {
 public:
  static constexpr Head kHead = Head::kSequenceClassification;
  explicit ZeroShotClassification(const TaskContext& context) : TaskOf(context), reader_(context) {}
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  // GLiClass: all labels in the text that the model reads.
  Status StartAtOnce();
  Result<Reading> ReadAtOnce(size_t input, const std::string& prompt) const;
  // The rows of the labels, and of the text.
  void FindRows(Reading& reading) const;
  void GiveScores(size_t input, std::vector<float> scores);

  Status CheckRequest() const;
  // Sets entailment_: the first label of label2id whose name begins with "entail", else of id2label.
  Status FindEntailment();
  // One sentence for each label, each short enough to leave room for the text.
  Result<std::vector<std::string>> Hypotheses() const;
  // The scores of one text's candidates from their logits, [candidates, labels].
  std::vector<float> Scores() const;

  LabelReader reader_;
  size_t entailment_ = 0;      // a column of the logits
  std::vector<float> logits_;  // [candidates, labels] so far of the input that is being read
};

}  // namespace peruse
