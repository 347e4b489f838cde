// Token classification (named entities, PII, parts of speech): labelled spans of a text (transformers'
// TokenClassificationPipeline).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/task.h"

namespace peruse {

// kNone: an item for each token. kSimple: neighbouring tokens of one label become an item. The others: words first, each
// labelled by its first token, its surest token or its tokens' mean.
enum class Aggregation { kNone, kSimple, kFirst, kMax, kAverage };

struct TokenClassificationRequest {
  std::vector<std::string> inputs;
  Aggregation aggregation_strategy = Aggregation::kNone;
  std::vector<std::string> ignore_labels = {"O"};  // labels to leave out
  // An ignored label with a lower probability than this is replaced by the best of the other labels: more is found, and more
  // of it wrongly.
  float recall = 0;
  // Read a text that is too long in windows that share this many tokens, and merge what they find; needs a strategy other
  // than kNone. Unset: such a text is refused.
  std::optional<int32_t> stride;
  std::optional<int32_t> max_length;  // tokens of a window; unset: what the model takes
  // Windows in any case: of at most max_position_embeddings, and sharing a quarter of that, at most 64, where neither is set.
  bool windows = false;
};

// A token, word or group: what is labelled.
struct Entity {
  std::string label;
  float score = 0;
  std::string word;
  text::Offset bytes;                 // in the text
  std::optional<int32_t> index = {};  // of a token, in its window; words and groups have none
  TextSpan span = {0, 0};             // the bytes, in UTF-16
};

// For each input its entities in order; a long text's come window by window.
class TokenClassification : public TaskOf<TokenClassificationRequest, std::vector<Entity>> {
 public:
  static constexpr Head kHead = Head::kTokenClassification;
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  // A token of the text with its probabilities.
  struct Token {
    std::string word;
    std::vector<float> scores;
    text::Offset bytes;
    int32_t index;
    bool is_subword;  // continues the word of the token before
  };

  std::vector<Token> Tokens(const text::Encoding& window, std::string_view text, const Matrix& logits) const;
  bool IsSubword(std::string_view text, text::Offset bytes, std::string_view token) const;
  Result<Entity> Labelled(const Token& token, std::span<const float> scores) const;
  // One item per word: a token that is no subword begins one.
  Result<std::vector<Entity>> Words(std::span<const Token> tokens) const;
  Result<Entity> Word(std::span<const Token> tokens) const;
  // Joins neighbours of one label; "B-" begins a new item.
  std::vector<Entity> Groups(std::span<const Entity> entities) const;
  Entity Group(std::span<const Entity> entities) const;
  bool Ignored(std::string_view label) const;
  // Returns the best label, or, by `recall`, the best that is not ignored.
  size_t Chosen(std::span<const float> scores) const;
  // Takes from found_ what no later window can change: what begins before the byte `end`, overlaps removed.
  std::vector<Entity> Settled(int32_t end);

  // Of the text that is being read in windows:
  std::vector<Entity> found_;  // sorted by their start
  std::optional<Utf8IndexConverter> index_;
};

}  // namespace peruse
