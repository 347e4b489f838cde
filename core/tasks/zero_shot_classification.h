// Scores arbitrary labels with a natural-language-inference model: whether the text entails "This example is <label>." (transformers'
// ZeroShotClassificationPipeline). As in transformers, truncation only shortens the text. A hypothesis that leaves no space for the text is
// an error; transformers would exceed the model's limit. Models that read labels have their own task (label_classification.h), with the
// same request and result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

struct ZeroShotRequest {
  std::vector<std::string> inputs;
  std::vector<std::string> candidate_labels;
  std::string hypothesis_template = "This example is {}.";  // {} is replaced by the label
  bool multi_label = false;                                 // score each label independently; otherwise scores sum to 1

  template <typename Reader>
  void ReadOptions(Reader& reader) {
    reader.Read("candidate_labels", &candidate_labels);
    reader.Read("hypothesis_template", &hypothesis_template);
    reader.Read("multi_label", &multi_label);
  }
};

struct ZeroShotScores {
  std::vector<std::string> labels;
  std::vector<float> scores;
};

// Returns the number of the first label of label2id, or otherwise of id2label, whose name begins with "entail".
Result<int32_t> EntailmentOf(const ModelConfig& config);

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
  // Returns one hypothesis per label, each short enough to leave space for the text.
  Result<std::vector<std::string>> Hypotheses() const;
  std::vector<float> Scores() const;

  size_t entailment_ = 0;      // the label's column in the logits
  std::vector<float> logits_;  // [candidates, labels]: logits of the current input so far
};

}  // namespace peruse
