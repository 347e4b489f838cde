// A text whose words the caller may give. A task that labels words splits a text itself, unless the caller has split it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/text/tokenizer.h"

namespace peruse {

struct WordText {
  WordText() = default;
  WordText(std::string whole) : text(std::move(whole)) {}  // NOLINT: every text is a WordText without words
  WordText(std::string whole, std::vector<text::Offset> split) : text(std::move(whole)), words(std::move(split)) {}

  std::string text;
  // Byte ranges of the words in order, without overlaps; nullopt means the rule of the task.
  std::optional<std::vector<text::Offset>> words = {};
};

// Sets the words from UTF-16 indices: the start and the end of each word. Errors: kInvalidArgument unless they are in order, and within
// the text.
Status SetWords(std::span<const int32_t> starts_and_ends, WordText* input);

// Returns the windows of a text, whose words are tokenized one by one if the caller gave them. Offsets are those of the text.
Result<std::vector<text::Encoding>> EncodeText(const text::Tokenizer& tokenizer, const WordText& input,
                                               const text::EncodeOptions& options);

}  // namespace peruse
