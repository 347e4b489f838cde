// Finds labelled spans of a text, such as named entities (transformers' TokenClassificationPipeline).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tasks/bioes_path.h"
#include "core/tasks/task.h"
#include "core/tasks/word_text.h"

namespace peruse {

// kNone returns one item per token. kSimple merges adjacent tokens of one label. The others first merge tokens to words, and label a word
// by its first token, its most probable token, or the mean of its tokens. If the model chooses paths of labels (ModelConfig::path_biases),
// they all return the spans of the best path, without white space at their ends.
enum class Aggregation { kNone, kSimple, kFirst, kMax, kAverage };
// Names in the order of the values.
inline constexpr std::string_view kAggregations[] = {"none", "simple", "first", "max", "average"};

struct TokenClassificationRequest {
  std::vector<WordText> inputs;
  Aggregation aggregation_strategy = Aggregation::kNone;
  std::vector<std::string> ignore_labels = {"O"};  // labels to omit
  // If an ignored label's probability is below this value, the best other label replaces it. A higher value finds more entities, but more
  // false ones, too.
  float recall = 0;
  // Splits a long text into windows that share this number of tokens, and merges their results. Not with kNone. nullopt means kTextTooLong.
  std::optional<int32_t> stride;
  std::optional<int32_t> max_length;  // tokens per window; nullopt means the model's limit
  // Splits long texts even if `stride` and `max_length` are not set: into windows of max_position_embeddings tokens that share a quarter,
  // but at most 64 tokens.
  bool windows = false;
  // Adds Entity::certainty, which transformers does not have.
  bool certainty = false;

  template <typename Reader>
  void ReadOptions(Reader& reader) {
    reader.Read("aggregation_strategy", kAggregations, &aggregation_strategy);
    reader.Read("ignore_labels", &ignore_labels);
    reader.Read("recall", &recall);
    reader.ReadOptional("stride", &stride, 0);
    reader.ReadOptional("max_length", &max_length, 1);
    reader.Read("windows", &windows);
    reader.Read("certainty", &certainty);
  }
};

struct Entity {
  std::string label;
  float score = 0;
  std::string word;
  text::Offset bytes;                 // range in the UTF-8 text
  std::optional<int32_t> index = {};  // index of the token in its window; nullopt for words and merged entities
  TextSpan span = {0, 0};             // the same range as `bytes`, in UTF-16 code units
  // The highest of its tokens' probabilities of having no ignored label. It separates entities from false ones better than the score.
  std::optional<float> certainty = {};
};

// Returns each input's entities in order. The entities of a long text are returned window by window.
class TokenClassification : public TaskOf<TokenClassificationRequest, std::vector<Entity>> {
 public:
  static constexpr Head kHead = Head::kTokenClassification;
  using TaskOf::TaskOf;
  Status Start() override;

 protected:
  Status Collect(const Reading& reading, size_t text) override;

 private:
  struct Token {
    std::string word;
    std::vector<float> scores;
    text::Offset bytes;
    int32_t index;
    bool is_subword;  // whether the token continues the word of the preceding token
  };

  std::vector<Token> Tokens(const text::Encoding& window, std::string_view text, const Matrix& logits) const;
  bool IsSubword(std::string_view text, text::Offset bytes, std::string_view token) const;
  // Returns the label of each token on the best path.
  std::vector<size_t> Path(std::span<const Token> tokens, const Matrix& logits) const;
  Result<Entity> Labelled(const Token& token, std::span<const float> scores, size_t label) const;
  // Returns one item per word. Every token that is not a subword begins a word.
  Result<std::vector<Entity>> Words(std::span<const Token> tokens) const;
  Result<Entity> Word(std::span<const Token> tokens) const;
  // Groups as transformers does. If labels are BIOES or BILOU, which transformers does not know, as transformers.js 4.2 does.
  std::vector<Entity> Groups(std::span<const Entity> entities) const;
  Entity Group(std::span<const Entity> entities) const;
  // Returns the probability that the token has none of the ignored labels, or nullopt if it is not requested.
  std::optional<float> Certainty(const Token& token) const;
  bool Ignored(size_t label) const;
  bool Ignored(std::string_view label) const;
  size_t Chosen(std::span<const float> scores) const;
  // Removes from found_ the items that begin before byte `end`, which later windows cannot change, and resolves overlaps.
  std::vector<Entity> Settled(int32_t end);

  bool marks_ends_ = false;    // whether the labels are BIOES or BILOU
  std::vector<bool> ignored_;  // for each label, whether it is one of request.ignore_labels
  bool is_path_ = false;       // whether spans are those of the best path
  // State of a text that is split into windows:
  std::vector<Entity> found_;  // sorted by start
  std::optional<Utf8IndexConverter> index_;
};

}  // namespace peruse
