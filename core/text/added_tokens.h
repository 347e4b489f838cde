// Special and user-added tokens. They are cut out of the text before all other stages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/text/models/trie.h"
#include "core/text/models/vocabulary.h"
#include "core/text/normalizers/normalizer.h"
#include "core/text/pre_tokenizers/pre_tokenizer.h"

namespace peruse::text {

struct AddedToken {
  std::string content;
  bool single_word = false;  // match only between non-word characters
  bool lstrip = false;       // the match includes white space before it
  bool rstrip = false;       // the match includes white space after it
  bool normalized = true;    // match normalised text instead of raw text
  bool special = false;      // skipped when decoding
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // Adds `listed`, then `more`. If contents are equal, the flags of the later token count. Contents outside the vocabulary get consecutive
  // ids from its size on. `normalizer` may be null.
  static Result<AddedTokens> Create(std::vector<AddedToken> listed, std::vector<AddedToken> more,
                                    const Vocabulary& vocabulary, const Normalizer* normalizer);
  // Treats special tokens as ordinary text (tokenizers' encode_special_tokens).
  void SplitSpecialTokens() { splits_special_ = true; }

  // Cuts tokens out of `text` and normalises the remaining text: first tokens that match raw text, then, piece by piece, tokens that match
  // normalised text. Replaces `list`, which is invalid after an error. Errors: kOutOfMemory, kUnsupported (the search takes too long).
  Status Extract(std::string_view text, const Normalizer* normalizer, PieceList* list) const;

  int32_t Find(std::string_view content) const { return ids_.Find(content); }
  const AddedToken* Token(int32_t id) const;
  bool IsSpecial(int32_t id) const;
  // One more than the largest id of all added tokens, or of `listed` only; 0 without such tokens.
  int32_t id_limit() const;
  int32_t listed_id_limit() const { return listed_id_limit_; }

 private:
  struct Entry {
    int32_t id;
    AddedToken token;
    bool was_special;  // whether any token of this content is special; decoding skips it then
  };
  // A pattern to search for. The first of equal patterns counts, as in tokenizers.
  struct Pattern {
    size_t entry;
    bool normalized;
  };
  // All tokens of one pass. The values of the trie are indices into `entries_`.
  struct Matcher {
    Trie trie;
    bool starts[256] = {};     // bytes that a token starts with
    bool has_nothing = false;  // whether a token is empty after normalisation
    bool is_empty = true;
  };
  // A matched part of a text. Entry -1 means ordinary text.
  struct Match {
    size_t begin, end;
    int32_t entry;
  };

  Status AddEntries(std::vector<AddedToken> tokens, size_t listed, const Vocabulary& vocabulary,
                    std::vector<Pattern>* patterns);
  static Result<Matcher> MakeMatcher(const std::vector<std::pair<std::string_view, int32_t>>& patterns);
  const Entry* FindEntry(int32_t id) const;
  int32_t LongestAt(std::string_view text, size_t begin, const Matcher& matcher, size_t* end, size_t* steps) const;
  Status FindMatches(std::string_view text, const Matcher& matcher, std::vector<Match>* matches) const;
  bool StandsAlone(std::string_view text, size_t begin, size_t end) const;
  Status NormalizeInto(std::string_view text, size_t begin, size_t end, const Normalizer* normalizer,
                       PieceList* list) const;

  std::vector<Entry> entries_;                      // one entry per content, in order of addition
  std::vector<std::pair<int32_t, int32_t>> by_id_;  // pairs of token id and index in entries_, sorted by id
  Trie ids_;                                        // maps a token's content to its id
  Matcher raw_, normalized_;
  bool splits_special_ = false;
  int32_t listed_id_limit_ = 0;
};

}  // namespace peruse::text
