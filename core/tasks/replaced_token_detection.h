// Replaced-token detection: which tokens of a text look out of place, by the discriminator of ELECTRA or DeBERTa v3
// (spec: pipelines.md section 9).
//
// Input:   {"text": string}
// Options: none
// Result:  [{"word": token, "score": probability that it was replaced, "replaced": boolean, "index": token, "start": n,
//          "end": n}, ...]; special tokens left out; start and end are UTF-16 indices of the text
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class ReplacedTokenDetection : public Task {
 public:
  ReplacedTokenDetection(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  Status Collect(size_t index, std::span<const float> logits) override;
  void Write(JsonWriter& writer) const override;

 private:
  struct Token {
    std::string word;
    float logit;
    int32_t index;
    Offset bytes;
  };
  struct Text {
    std::string text;
    std::vector<Token> tokens;
  };

  std::vector<Text> texts_;
};

}  // namespace peruse
