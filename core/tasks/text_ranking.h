// Text ranking: which documents answer a query best, by a cross-encoder that reads query and document together
// (sentence-transformers' CrossEncoder.rank; spec: pipelines.md section 8).
//
// Input:   {"query": string, "documents": [string, ...]}
// Options: top_k              how many documents, best first (default: all)
//          return_documents   also give their texts (default false)
//          function_to_apply  "sigmoid" or "none"; default: what config.json says (sentence-transformers), else sigmoid
// Result:  [{"corpus_id": index of the document, "score": number, "text"?: string}, ...], best first
//
// A pair that is too long is cut, the longer text first, as in the reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class TextRanking : public Task {
 public:
  TextRanking(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  Status Collect(size_t index, std::span<const float> logits) override;
  void Write(JsonWriter& writer) const override;

 private:
  Status ReadOptions(JsonValue options);
  // Whether the model's configuration asks for a sigmoid, as it does where it says nothing.
  Result<bool> ConfiguredSigmoid() const;
  Status ReadInput(JsonValue input);

  int32_t top_k_ = 0;  // 0: all
  bool return_documents_ = false;
  bool sigmoid_ = true;
  std::vector<std::vector<std::string>> documents_;  // per input
  std::vector<float> scores_;                        // of all documents of all inputs, in order
};

}  // namespace peruse
