#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/text/models/trie.h"

namespace peruse::text {

using VocabularyEntries = std::vector<std::pair<std::string_view, int32_t>>;

class Vocabulary {
 public:
  // Maximum number of gaps between ids. Files have gaps if their added tokens fill them.
  static constexpr int32_t kMaxGaps = 1 << 20;

  Vocabulary() = default;
  // If several ids have the same token, Find returns the last id; the other ids become gaps, unless `keep_repeated` (for Unigram). Errors:
  // kMalformedFile for a negative or absurdly large id, or for two different tokens with the same id.
  static Result<Vocabulary> Create(const VocabularyEntries& entries, bool keep_repeated = false);

  int32_t size() const { return count_; }
  int32_t id_limit() const { return static_cast<int32_t>(spans_.size()); }
  int32_t Find(std::string_view token) const { return trie_.Find(token); }
  std::optional<std::string_view> Token(int32_t id) const;
  const Trie& trie() const { return trie_; }

 private:
  struct Span {
    uint32_t start = 0;
    uint32_t size = kAbsent;
  };
  static constexpr uint32_t kAbsent = 0xFFFFFFFF;

  Trie trie_;
  std::string bytes_;        // all tokens, concatenated
  std::vector<Span> spans_;  // indexed by id
  int32_t count_ = 0;
};

}  // namespace peruse::text
