// Text classification: a text, or a pair of texts, to labels with scores (transformers'
// TextClassificationPipeline; spec: pipelines.md section 1).
//
// Input:   {"text": string, "text_pair"?: string}
// Options: top_k             how many labels, best first (default 1; null: all)
//          function_to_apply "softmax", "sigmoid" or "none" (default: what the configuration implies)
//          truncation        cut texts that are too long, longest first (default false: text_too_long)
//          max_length        tokens to cut to (default: the model's limit)
// Result:  [{"label": string, "score": number}, ...]
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class TextClassification : public Task {
 public:
  TextClassification(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  Status Collect(size_t index, std::span<const float> logits) override;
  void Write(JsonWriter& writer) const override;

 private:
  enum class Function { kSoftmax, kSigmoid, kNone };

  Status ReadOptions(JsonValue options);
  Status ReadFunction(JsonValue options);
  // What the configuration implies where the caller does not say.
  Function DefaultFunction() const;

  struct LabelScore {
    int32_t label;
    float score;
  };

  int32_t top_k_ = 1;  // 0: all
  Function function_ = Function::kSoftmax;
  EncodeOptions encode_options_;
  std::vector<std::vector<LabelScore>> results_;  // per input, best first
};

}  // namespace peruse
