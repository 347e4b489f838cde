// AddedTokens: special and user-added tokens, which are cut out of the text before anything else happens to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/tokenizer/normalizer.h"
#include "core/tokenizer/pieces.h"
#include "core/tokenizer/trie.h"
#include "core/tokenizer/vocabulary.h"

namespace peruse {

struct AddedToken {
  std::string content;
  bool single_word = false;  // match only between non-word characters
  bool lstrip = false;       // the match swallows white space before it
  bool rstrip = false;       // ... and after it
  bool normalized = true;    // match normalised text instead of raw text
  bool special = false;      // skipped when decoding
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // Ids: of the vocabulary where the content is in it, otherwise counting on from its size in list order.
  // `normalizer` may be null.
  static Result<AddedTokens> Create(const std::vector<AddedToken>& tokens, const Vocabulary& vocabulary,
                                    const Normalizer* normalizer);

  // Cuts the tokens out of `text` and normalises the rest: first those matched raw, then, piece by piece, those matched
  // after normalisation. Replaces `list`. False when there is no memory, and then `list` means nothing.
  [[nodiscard]] bool Extract(std::string_view text, const Normalizer* normalizer, PieceList* list) const;

  // The id, or -1.
  int32_t Find(std::string_view content) const { return ids_.Find(content); }
  // The token of an id, or null.
  const AddedToken* Token(int32_t id) const;
  // One more than the largest id, or 0.
  int32_t id_limit() const;

 private:
  struct Entry {
    int32_t id;
    AddedToken token;
  };
  // All tokens of one pass; values of the trie are indices of `entries_`.
  struct Matcher {
    Trie trie;
    bool starts[256] = {};  // bytes that a token starts with
    bool empty = true;
  };
  // Part of a text; entry -1: no token.
  struct Match {
    size_t begin, end;
    int32_t entry;
  };

  static Result<Matcher> MakeMatcher(const std::vector<std::pair<std::string_view, int32_t>>& patterns);
  // False when there is no memory; so with the next.
  [[nodiscard]] bool FindMatches(std::string_view text, const Matcher& matcher, std::vector<Match>* matches) const;
  bool StandsAlone(std::string_view text, size_t begin, size_t end) const;
  [[nodiscard]] bool NormalizeInto(std::string_view text, size_t begin, size_t end, const Normalizer* normalizer,
                                   PieceList* list) const;

  std::vector<Entry> entries_;  // one per id, by id
  Trie ids_;                    // by content
  Matcher raw_, normalized_;
};

}  // namespace peruse
