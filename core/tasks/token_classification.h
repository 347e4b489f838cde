// Token classification (named entities, PII, parts of speech): labelled spans of a text (transformers'
// TokenClassificationPipeline; spec: pipelines.md section 4).
//
// Input:   {"text": string}
// Options: aggregation_strategy  "none" (one item per token, the default), "simple" (neighbouring tokens of one label
//                                become one item), "first", "max", "average" (words first, each labelled by its first
//                                token, its surest token or its tokens' mean)
//          ignore_labels         labels to leave out (default ["O"])
//          stride                read a text that is too long in windows that share this many tokens, and merge what
//                                they find; needs a strategy other than "none" (default: such a text is refused)
// Result:  [{"entity" or "entity_group": string, "score": number, "index"?: token, "word": string, "start": n,
//          "end": n}, ...]; start and end are UTF-16 indices of the text. "index" only with "none".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

class TokenClassification : public Task {
 public:
  TokenClassification(const Tokenizer& tokenizer, Model& model) : Task(tokenizer, model) {}

 protected:
  Status Read(JsonValue inputs, JsonValue options) override;
  Status Collect(size_t index, std::span<const float> logits) override;
  void Write(JsonWriter& writer) const override;

 private:
  enum class Strategy { kNone, kSimple, kFirst, kMax, kAverage };

  // A token, word or group: what is labelled.
  struct Entity {
    std::string label;
    float score = 0;
    std::string word;
    Offset bytes;       // in the text
    int32_t index = 0;  // of the first token, in its window
  };
  // A token of the text with its probabilities.
  struct Token {
    std::string word;
    std::vector<float> scores;
    Offset bytes;
    int32_t index;
    bool is_subword;  // continues the word of the token before
  };
  struct Text {
    std::string text;
    std::vector<Entity> entities;
    int32_t windows = 0;
  };

  Status ReadOptions(JsonValue options);
  std::vector<Token> Tokens(const Encoding& window, std::string_view text, std::span<const float> logits) const;
  bool IsSubword(std::string_view text, Offset bytes, std::string_view token) const;
  Entity Labelled(const Token& token, std::span<const float> scores) const;
  // One item per word: a token that is no subword begins one.
  std::vector<Entity> Words(std::span<const Token> tokens) const;
  Entity Word(std::span<const Token> tokens) const;
  // Joins neighbours of one label; "B-" begins a new item.
  std::vector<Entity> Groups(std::span<const Entity> entities) const;
  Entity Group(std::span<const Entity> entities) const;
  bool Ignored(std::string_view label) const;

  Strategy strategy_ = Strategy::kNone;
  std::vector<std::string> ignore_labels_;
  EncodeOptions encode_options_;
  std::vector<Text> texts_;
  std::vector<size_t> text_of_window_;
};

}  // namespace peruse
