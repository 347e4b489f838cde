#include "core/tokenizer/offset_trimming.h"

#include <algorithm>

#include "core/base/utf8.h"
#include "core/tokenizer/byte_level.h"
#include "core/tokenizer/unicode.h"

namespace peruse {
namespace {

bool IsBlank(char32_t c) { return c == StandIn(' ') || IsSpace(c); }

size_t LeadingBlanks(std::string_view token) {
  size_t count = 0;
  for (size_t position = 0; position < token.size() && IsBlank(DecodeUtf8(token, &position));) ++count;
  return count;
}

size_t TrailingBlanks(std::string_view token) {
  size_t count = 0;
  for (size_t position = token.size(); position > 0 && IsBlank(DecodeUtf8Backwards(token, &position));) ++count;
  return count;
}

// The reference counts in code points; a range narrows but never turns around.
Offset Trim(std::string_view text, Offset offset, size_t leading, size_t trailing) {
  auto start = static_cast<size_t>(offset.start), end = static_cast<size_t>(offset.end);
  for (; leading > 0 && start < end; --leading) DecodeUtf8(text, &start);
  if (trailing > end / 4 && trailing > CountCodePoints(text.substr(0, end))) trailing = 0;
  for (; trailing > 0 && end > start; --trailing) DecodeUtf8Backwards(text, &end);
  return {static_cast<int32_t>(start), static_cast<int32_t>(end)};
}

}  // namespace

void TrimOffsets(std::string_view text, const Tokenizer::Parts& parts, SequenceEncoding* sequence) {
  std::vector<SequenceToken>& tokens = sequence->tokens;
  sequence->first_offsets.reserve(tokens.size());
  for (size_t i = sequence->first_offsets.size(); i < tokens.size(); ++i) {
    const auto [id, word_id, offset] = tokens[i];
    // The string of an added token is what it matched, swallowed spaces included.
    const auto start = static_cast<size_t>(offset.start);
    std::string_view token = parts.model->vocabulary().Token(id).value_or("");
    if (parts.added_tokens.Token(id) != nullptr) token = text.substr(start, static_cast<size_t>(offset.end) - start);
    const size_t leading = LeadingBlanks(token), trailing = TrailingBlanks(token);
    const bool was_added = parts.post_processor.trimming.add_prefix_space && leading == 1;
    const Offset first = Trim(text, offset, was_added ? 0 : leading, trailing);
    sequence->first_offsets.push_back(first);
    tokens[i].offset = was_added && offset.start == 0 ? first : Trim(text, offset, leading, trailing);
  }
}

}  // namespace peruse
