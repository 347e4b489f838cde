#include "core/text/models/vocabulary.h"

#include "core/base/memory.h"
#include "core/base/utf8.h"

namespace peruse::text {

Result<Vocabulary> Vocabulary::Create(const VocabularyEntries& entries, bool keep_repeated) {
  Vocabulary vocabulary;
  PERUSE_ASSIGN_OR_RETURN(vocabulary.trie_, Trie::Create(entries));
  int64_t limit = 0;
  size_t bytes = 0;
  for (const auto& [token, id] : entries) {
    if (id < 0) return MalformedFile("vocabulary: the id of \"" + Excerpt(token) + "\" is negative");
    if (id >= limit) limit = int64_t{id} + 1;
    bytes += token.size();
  }
  if (limit > static_cast<int64_t>(entries.size()) + kMaxGaps) {
    return MalformedFile("vocabulary: id " + std::to_string(limit - 1) + " is far beyond the number of tokens");
  }
  if (bytes >= kAbsent) return MalformedFile("vocabulary: more than 4 GB of tokens");
  if (!TryResize(&vocabulary.spans_, static_cast<size_t>(limit)) || !TryReserve(&vocabulary.bytes_, bytes)) {
    return OutOfMemory("no memory for a vocabulary");
  }
  for (const auto& [token, id] : entries) {
    if (!keep_repeated && vocabulary.trie_.Find(token) != id) continue;
    Span& span = vocabulary.spans_[static_cast<size_t>(id)];
    if (span.size != kAbsent) {
      if (vocabulary.Token(id) == token) continue;
      return MalformedFile("vocabulary: id " + std::to_string(id) + " belongs to both \"" +
                           Excerpt(*vocabulary.Token(id)) + "\" and \"" + Excerpt(token) + "\"");
    }
    span = {static_cast<uint32_t>(vocabulary.bytes_.size()), static_cast<uint32_t>(token.size())};
    vocabulary.bytes_.append(token);
    ++vocabulary.count_;
  }
  return vocabulary;
}

std::optional<std::string_view> Vocabulary::Token(int32_t id) const {
  if (id < 0 || id >= id_limit()) return std::nullopt;
  const Span& span = spans_[static_cast<size_t>(id)];
  if (span.size == kAbsent) return std::nullopt;
  return std::string_view(bytes_).substr(span.start, span.size);
}

}  // namespace peruse::text
