// Checks that hold for every encoding, whatever the tokenizer and the text.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "core/base/utf8.h"
#include "core/text/tokenizer.h"

namespace peruse {

inline void CheckEncoding(std::string_view text, const text::Encoding& encoding, std::set<int32_t>* ids) {
  const size_t size = encoding.ids.size();
  PERUSE_CHECK(encoding.type_ids.size() == size && encoding.word_ids.size() == size && encoding.offsets.size() == size);
  PERUSE_CHECK(encoding.sequence_ids.size() == size && encoding.special_tokens_mask.size() == size);
  for (size_t i = 0; i < size; ++i) {
    const text::Offset offset = encoding.offsets[i];
    PERUSE_CHECK(offset.start >= 0 && static_cast<size_t>(offset.start) <= text.size());
    PERUSE_CHECK(offset.end >= 0 && static_cast<size_t>(offset.end) <= text.size());
    for (const int32_t at : {offset.start, offset.end}) {
      PERUSE_CHECK(static_cast<size_t>(at) == text.size() || !IsUtf8Continuation(text[static_cast<size_t>(at)]));
    }
  }
  ids->insert(encoding.ids.begin(), encoding.ids.end());
}

inline void EncodeAndCheck(const text::Tokenizer& tokenizer, std::string_view text) {
  const auto whole = tokenizer.Encode(text);
  if (!whole.ok()) {
    PERUSE_CHECK(!whole.status().message().empty());
    return;
  }
  PERUSE_CHECK(whole->size() == 1);
  std::set<int32_t> ids;
  CheckEncoding(text, (*whole)[0], &ids);
  tokenizer.Decode((*whole)[0].ids, true);
  text::EncodeOptions options;
  options.truncation = text::Truncation::kLongestFirst;
  options.max_length = 9;
  options.stride = 2;
  const auto windows = tokenizer.Encode(text, options);
  if (windows.ok()) {
    for (const text::Encoding& window : *windows) CheckEncoding(text, window, &ids);
  }
  for (const int32_t id : ids) PERUSE_CHECK(tokenizer.IdToToken(id).ok());
}

}  // namespace peruse
