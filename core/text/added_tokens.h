// AddedTokens: special and user-added tokens, which are cut out of the text before anything else happens to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/text/normalizer.h"
#include "core/text/pieces.h"
#include "core/text/trie.h"
#include "core/text/vocabulary.h"

namespace peruse::text {

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
  // `listed` are added first, then `more`: of tokens of equal content the later one's flags count. Ids: of the vocabulary where
  // the content is in it, otherwise counting on from its size. `normalizer` may be null.
  static Result<AddedTokens> Create(std::vector<AddedToken> listed, std::vector<AddedToken> more,
                                    const Vocabulary& vocabulary, const Normalizer* normalizer);
  // Special tokens are read as text like any other (the reference's encode_special_tokens).
  void SplitSpecialTokens() { splits_special_ = true; }

  // Cuts the tokens out of `text` and normalises the rest: first those matched raw, then, piece by piece, those matched
  // after normalisation. Replaces `list`. Errors: kOutOfMemory, kUnsupported (see FindMatches); then `list` means nothing.
  Status Extract(std::string_view text, const Normalizer* normalizer, PieceList* list) const;

  // The id, or -1.
  int32_t Find(std::string_view content) const { return ids_.Find(content); }
  // The token of an id, or null.
  const AddedToken* Token(int32_t id) const;
  bool IsSpecial(int32_t id) const;
  // One more than the largest id, or 0; of all tokens, and of those that were listed.
  int32_t id_limit() const;
  int32_t listed_id_limit() const { return listed_id_limit_; }

 private:
  struct Entry {
    int32_t id;
    AddedToken token;
    bool was_special;  // of any of the tokens of this content: then they are special for decoding
  };
  // The patterns that are searched, in the reference's order: of equal patterns the first counts.
  struct Pattern {
    size_t entry;
    bool normalized;
  };
  // All tokens of one pass; values of the trie are indices of `entries_`.
  struct Matcher {
    Trie trie;
    bool starts[256] = {};     // bytes that a token starts with
    bool has_nothing = false;  // one of them is empty: normalisation left nothing of it
    bool is_empty = true;
  };
  // Part of a text; entry -1: no token.
  struct Match {
    size_t begin, end;
    int32_t entry;
  };

  // Fills entries_ and `patterns`.
  Status AddEntries(std::vector<AddedToken> tokens, size_t listed, const Vocabulary& vocabulary,
                    std::vector<Pattern>* patterns);
  static Result<Matcher> MakeMatcher(const std::vector<std::pair<std::string_view, int32_t>>& patterns);
  const Entry* FindEntry(int32_t id) const;
  int32_t LongestAt(std::string_view text, size_t begin, const Matcher& matcher, size_t* end, size_t* steps) const;
  Status FindMatches(std::string_view text, const Matcher& matcher, std::vector<Match>* matches) const;
  bool StandsAlone(std::string_view text, size_t begin, size_t end) const;
  Status NormalizeInto(std::string_view text, size_t begin, size_t end, const Normalizer* normalizer,
                       PieceList* list) const;

  std::vector<Entry> entries_;                      // one per content, as they came
  std::vector<std::pair<int32_t, int32_t>> by_id_;  // id and entry
  Trie ids_;                                        // by content
  Matcher raw_, normalized_;
  bool splits_special_ = false;
  int32_t listed_id_limit_ = 0;
};

}  // namespace peruse::text
