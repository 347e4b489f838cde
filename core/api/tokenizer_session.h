// A tokenizer alone, without a model: what a host needs to count, cut and split texts as a model will read them. Requests and
// results are JSON, as those of Session; token ids and offsets are integers that the host reads from memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/text/tokenizer.h"

namespace peruse {

class TokenizerSession {
 public:
  TokenizerSession() = default;
  // Of a tokenizer that is open already, as that of a Session; 0 for `max_length`: no limit.
  TokenizerSession(std::shared_ptr<const text::Tokenizer> tokenizer, int32_t max_length)
      : tokenizer_(std::move(tokenizer)),
        max_length_(max_length > 0 ? std::optional<int32_t>(max_length) : std::nullopt) {}

  // A file of the model's folder: the tokenizer's own, and config.json, which may name its class.
  Status AddFile(std::string_view name, std::string_view bytes);
  // {"vocab_size", "max_length": number or null, "special_tokens": {"cls_token": {"id", "token"}, ...}}; max_length: the
  // tokenizer's model_max_length.
  Result<std::string> Open();

  // {"text", "text_pair"?, "add_special_tokens"?, "truncation"?, "max_length"?, "stride"?}. truncation: false, true (the same as
  // "longest_first"), "longest_first", "only_first" or "only_second"; to max_length, by default to Open's. Gives a JSON array: how many tokens
  // each window has. Without truncation there is one window, and with it the first is the text cut, the others the rest.
  Result<std::string> Encode(std::string_view request);
  // Of what was last encoded: kCells numbers for each token, window by window.
  std::span<const int32_t> cells() const { return cells_; }
  // id, type id, word (-1: none), sequence (0: text, 1: pair, -1: neither), 1 for a token that the tokenizer added, start and
  // end as UTF-16 indices of the token's own text.
  static constexpr size_t kCells = 7;
  // Encode's request; the number of tokens of the first window alone.
  Result<size_t> Count(std::string_view request) const;

  // {"ids": [...], "skip_special_tokens"?}: a text, as a JSON string.
  Result<std::string> Decode(std::string_view request) const;
  // {"ids": [...]}: their strings in the vocabulary, as a JSON array; kInvalidArgument for an id that there is not.
  Result<std::string> IdsToTokens(std::string_view request) const;
  // {"tokens": [...]}: their ids, as a JSON array; null for a token that there is not.
  Result<std::string> TokensToIds(std::string_view request) const;

 private:
  struct Texts {
    std::string text;
    std::optional<std::string> pair;
    text::EncodeOptions options;
  };
  Status CheckOpen() const;
  Result<Texts> ReadTexts(std::string_view request) const;
  Status ReadTruncation(const class OptionReader& reader, text::EncodeOptions* options) const;
  Result<std::vector<text::Encoding>> EncodeTexts(const Texts& texts) const;
  bool AppendCells(const Texts& texts, const text::Encoding& window);

  std::map<std::string, std::string, std::less<>> files_;
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::optional<int32_t> max_length_;
  std::vector<int32_t> cells_;
};

}  // namespace peruse
