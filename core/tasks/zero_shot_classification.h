// Zero-shot classification: any labels, by asking a model of natural-language inference whether the text entails
// "This example is <label>." (transformers' ZeroShotClassificationPipeline; spec: pipelines.md section 2).
//
// Input:   {"text": string}
// Options: candidate_labels      list of strings; required
//          hypothesis_template   with "{}" where the label goes (default "This example is {}.")
//          multi_label           judge each label by itself (default false: the scores of all labels sum to 1)
// Result:  {"sequence": string, "labels": [string, ...], "scores": [number, ...]}, best first
//
// A text that is too long is cut (the text alone, never the hypothesis), as in the reference. A hypothesis that leaves no
// room for a single token of the text is refused; the reference gives the model more tokens than it takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class ZeroShotClassification : public Task {
 public:
  ZeroShotClassification(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  Status Collect(size_t index, std::span<const float> logits) override;
  void Write(JsonWriter& writer) const override;

 private:
  Status ReadOptions(JsonValue options);
  // The text with each candidate's hypothesis.
  Result<std::vector<Encoding>> EncodeWithHypotheses(std::string_view text) const;
  // The column of "entailment": the first label whose name begins with "entail", else the last.
  size_t EntailmentColumn() const;
  // The scores of one text's candidates from their logits, [candidates, labels].
  std::vector<float> Scores(std::span<const float> logits) const;

  std::vector<std::string> candidates_;
  std::string template_;
  bool multi_label_ = false;
  std::vector<std::string> texts_;
  std::vector<float> logits_;  // [texts * candidates, labels]
};

}  // namespace peruse
