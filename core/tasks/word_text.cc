#include "core/tasks/word_text.h"

#include <algorithm>
#include <string_view>

#include "core/tasks/text_span.h"

namespace peruse {

Status SetWords(std::span<const int32_t> starts_and_ends, WordText* input) {
  const bool in_pairs = starts_and_ends.size() % 2 == 0;
  const bool positive = starts_and_ends.empty() || starts_and_ends.front() >= 0;
  if (!in_pairs || !positive || !std::is_sorted(starts_and_ends.begin(), starts_and_ends.end())) {
    return InvalidArgument("the words of a text must be starts and ends, in order");
  }
  Utf8IndexConverter index(input->text);
  std::vector<text::Offset>& words = input->words.emplace();
  for (size_t i = 0; i < starts_and_ends.size(); i += 2) {
    const auto byte_of = [&](size_t at) {
      return static_cast<int32_t>(index.Utf16ToByte(static_cast<size_t>(starts_and_ends[at])));
    };
    const int32_t start = byte_of(i);
    words.push_back({start, byte_of(i + 1)});
  }
  return OkStatus();
}

Result<std::vector<text::Encoding>> EncodeText(const text::Tokenizer& tokenizer, const WordText& input,
                                               const text::EncodeOptions& options) {
  if (!input.words) return tokenizer.Encode(input.text, options);
  std::vector<std::string_view> words;
  for (const text::Offset& bytes : *input.words) words.push_back(Slice(input.text, bytes));
  PERUSE_ASSIGN_OR_RETURN(std::vector<text::Encoding> windows, tokenizer.EncodeWords(words, options));
  for (text::Encoding& window : windows) {
    for (size_t t = 0; t < window.size(); ++t) {
      if (window.word_ids[t] < 0) continue;
      const int32_t start = (*input.words)[static_cast<size_t>(window.word_ids[t])].start;
      window.offsets[t].start += start;
      window.offsets[t].end += start;
    }
  }
  return windows;
}

}  // namespace peruse
