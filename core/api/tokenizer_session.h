// A tokenizer without a model, to count, truncate and split texts like the model. Requests and results are JSON, as in Session; the host
// reads token ids and offsets from memory.
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
#include "core/base/utf8.h"
#include "core/text/tokenizer.h"

namespace peruse {

class TokenizerSession {
 public:
  TokenizerSession() = default;
  // Uses an existing tokenizer, for example a Session's. A `max_length` of 0 means no limit.
  TokenizerSession(std::shared_ptr<const text::Tokenizer> tokenizer, int32_t max_length)
      : tokenizer_(std::move(tokenizer)),
        max_length_(max_length > 0 ? std::optional<int32_t>(max_length) : std::nullopt) {}

  Status AddFile(std::string_view name, std::string_view bytes);
  // Returns {"vocab_size", "max_length": number or null, "special_tokens": {"cls_token": {"id", "token"}, ...}}. max_length is the
  // tokenizer's model_max_length.
  Result<std::string> Open();

  // Takes {"text", "text_pair"?, "add_special_tokens"?, "truncation"?, "max_length"?, "stride"?}. truncation is false, true or
  // "longest_first", "only_first" or "only_second"; it applies max_length, by default that of Open. Returns a JSON array with the number of
  // tokens of each window. With truncation, the first window is the truncated text, and the others are the overflow.
  Result<std::string> Encode(std::string_view request);
  // Results of the last Encode: kCells numbers per token, window by window.
  std::span<const int32_t> cells() const { return cells_; }
  // Per token: id, type id, word or -1, sequence (0 text, 1 pair, -1 special), 1 for a token that the tokenizer added, start and end as
  // UTF-16 indices in the text or the pair.
  static constexpr size_t kCells = 7;
  // Takes Encode's request. Returns the number of tokens of the first window.
  Result<size_t> Count(std::string_view request) const;

  // Takes {"ids": [...], "skip_special_tokens"?}. Returns the text as a JSON string.
  Result<std::string> Decode(std::string_view request) const;
  // Takes {"ids": [...]}. Returns their strings in the vocabulary as a JSON array. Errors: kInvalidArgument for an unknown id.
  Result<std::string> IdsToTokens(std::string_view request) const;
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
  // `indices`: converters of both texts.
  bool AppendCells(std::span<Utf8IndexConverter, 2> indices, const text::Encoding& window);

  std::map<std::string, std::string, std::less<>> files_;
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::optional<int32_t> max_length_;
  std::vector<int32_t> cells_;
};

}  // namespace peruse
