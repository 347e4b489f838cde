#include "core/text/offset_trimming.h"

#include "core/base/memory.h"
#include "core/base/utf8.h"
#include "core/text/pre_tokenizers/byte_level.h"
#include "core/text/unicode/unicode.h"

namespace peruse::text {
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

// `leading` and `trailing` are code points, as in tokenizers. The range becomes empty rather than negative.
Offset Trim(std::string_view text, Offset offset, size_t leading, size_t trailing) {
  auto start = static_cast<size_t>(offset.start), end = static_cast<size_t>(offset.end);
  for (; leading > 0 && start < end; --leading) DecodeUtf8(text, &start);
  if (trailing > end / 4 && trailing > CountCodePoints(text.substr(0, end))) trailing = 0;
  for (; trailing > 0 && end > start; --trailing) DecodeUtf8Backwards(text, &end);
  return {static_cast<int32_t>(start), static_cast<int32_t>(end)};
}

}  // namespace

bool TrimOffset(std::string_view text, std::string_view token_text, bool add_prefix_space, SequenceToken* token,
                std::vector<Offset>* first_offsets) {
  const size_t leading = LeadingBlanks(token_text), trailing = TrailingBlanks(token_text);
  const bool was_added = add_prefix_space && leading == 1;
  const Offset offset = token->offset;
  const Offset first = Trim(text, offset, was_added ? 0 : leading, trailing);
  token->offset = was_added && offset.start == 0 ? first : Trim(text, offset, leading, trailing);
  return TryPushBack(first_offsets, first);
}

}  // namespace peruse::text
