// Converts text to token ids with offsets, and back, with the results of Hugging Face `tokenizers` 0.22. Stages: added_tokens.h cuts
// special tokens out of the text, normalizer.h rewrites the remaining text, pre_tokenizer.h splits it into words, model.h (WordPiece, BPE,
// Unigram) splits words into tokens, truncation.h creates windows, post_processor.h adds special tokens. tokenizer_loader.h builds a
// tokenizer from files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/text/encoding.h"

namespace peruse::text {

// How to shorten a text or a pair that exceeds max_length.
enum class Truncation : uint8_t {
  kNone,          // max_length is ignored
  kLongestFirst,  // tokens of the longer text first, until both texts are equally long
  kOnlyFirst,     // only tokens of the text
  kOnlySecond,    // only tokens of its pair
};

struct EncodeOptions {
  bool add_special_tokens = true;
  Truncation truncation = Truncation::kNone;
  int32_t max_length = 0;  // tokens per window, special tokens included
  int32_t stride = 0;      // tokens that adjacent windows share
};

// File contents by name: tokenizer.json, tokenizer_config.json, vocab.txt, vocab.json, merges.txt, spm.model, sentencepiece.bpe.model,
// special_tokens_map.json, added_tokens.json. Create does not keep views of them.
using TokenizerFiles = std::map<std::string, std::string_view, std::less<>>;

struct ModelToken;
struct PieceList;
struct SequenceEncoding;

class Tokenizer {
 public:
  struct Parts;

  // Errors: kNotFound if no file has a vocabulary, kMalformedFile, kUnsupported (names the component).
  static Result<std::unique_ptr<Tokenizer>> Create(const TokenizerFiles& files);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Returns the windows of `text`: the main encoding, then all overflow. Without truncation there is one window. Errors: kInvalidArgument
  // unless `text` is valid UTF-8 (see ReplaceInvalidUtf8), kTextTooLong above 16 MB, kOutOfMemory.
  Result<std::vector<Encoding>> Encode(std::string_view text, const EncodeOptions& options = {}) const;
  Result<std::vector<Encoding>> EncodePair(std::string_view text, std::string_view pair,
                                           const EncodeOptions& options = {}) const;
  // Returns the main encoding of `text` with each of `pairs`. Tokenizes `text` only once.
  Result<std::vector<Encoding>> EncodeWithEach(std::string_view text, std::span<const std::string> pairs,
                                               const EncodeOptions& options = {}) const;
  // Encodes text that is split into words (is_split_into_words). word_ids are indices of `words`; offsets are relative to a word.
  Result<std::vector<Encoding>> EncodeWords(std::span<const std::string_view> words,
                                            const EncodeOptions& options = {}) const;
  Result<std::vector<Encoding>> EncodeWordsPair(std::span<const std::string_view> words,
                                                std::span<const std::string_view> pair,
                                                const EncodeOptions& options = {}) const;

  std::optional<int32_t> TokenToId(std::string_view token) const;
  // Returns the token's string in the vocabulary ("##ing", "Ġthe", "▁the"). Errors: kInvalidArgument for an unknown id.
  Result<std::string> IdToToken(int32_t id) const;
  std::string Decode(std::span<const int32_t> ids, bool skip_special_tokens) const;
  std::string ConvertTokensToString(std::span<const std::string> tokens) const;

  // One more than the largest id, including added tokens.
  int32_t vocab_size() const;
  // vocab_size() without tokens that only a configuration or class names: a model may lack embeddings for them.
  int32_t model_vocab_size() const;
  // Number of special tokens that are added to a text, or to a pair.
  int32_t special_tokens_count(bool is_pair) const;
  bool IsSpecialToken(int32_t id) const;

  // The ids below are -1 if the tokenizer does not have such a token.
  int32_t cls_id() const;
  int32_t sep_id() const;
  int32_t mask_id() const;
  int32_t pad_id() const;
  int32_t unk_id() const;
  int32_t eos_id() const;

  // Whether the padding_side of tokenizer_config.json, or of its tokenizer_class, is "left".
  bool pads_left() const;
  // model_max_length of tokenizer_config.json; nullopt if absent or above 1e9, which transformers writes for "unlimited".
  std::optional<int64_t> model_max_length() const;
  // Prefix of tokens that continue a word, for example "##" for WordPiece; empty for models without such a prefix.
  std::string_view continuing_subword_prefix() const;

 private:
  friend class TokenizerLoader;
  explicit Tokenizer(std::unique_ptr<Parts> parts);

  Status SplitIntoWords(std::string_view text, PieceList* list, PieceList* scratch) const;
  std::string_view CalledText(std::string_view text, std::string_view word, bool is_added, const ModelToken& token,
                              Offset offset) const;
  // Appends the tokens of `text`. Numbers words from 0, or gives all tokens the same `word_id` if it is >= 0.
  Status EncodeSequence(std::string_view text, int32_t word_id, SequenceEncoding* out) const;
  Result<SequenceEncoding> EncodeInput(std::span<const std::string_view> words, bool is_split,
                                       int8_t sequence_id) const;
  Result<size_t> RoomForText(bool has_pair, const EncodeOptions& options) const;
  Result<std::vector<Encoding>> EncodeAll(std::span<const std::string_view> text,
                                          const std::span<const std::string_view>* pair, bool is_split,
                                          const EncodeOptions& options) const;

  std::unique_ptr<Parts> parts_;
};

}  // namespace peruse::text
