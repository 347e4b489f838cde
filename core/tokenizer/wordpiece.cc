#include "core/tokenizer/wordpiece.h"

#include "core/base/utf8.h"

namespace peruse {

WordPiece::WordPiece(Vocabulary vocabulary, WordPieceOptions options)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      unk_id_(vocabulary_.Find(options_.unk_token)),
      continuation_(vocabulary_.trie().Walk(Trie::kRoot, options_.continuing_subword_prefix)) {}

Status WordPiece::Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const {
  const Trie& trie = vocabulary_.trie();
  const size_t first_token = tokens->size();
  const auto limit = static_cast<size_t>(options_.max_input_chars_per_word);
  bool known = word.size() <= limit || CountCodePoints(word) <= limit;
  for (size_t start = 0; known && start < word.size();) {
    int32_t state = start == 0 ? Trie::kRoot : continuation_;
    int32_t id = Trie::kNone;
    size_t end = start;
    for (size_t i = start; i < word.size() && state != Trie::kNone;) {
      state = trie.Next(state, word[i++]);
      if (state != Trie::kNone && trie.Value(state) != Trie::kNone) {
        id = trie.Value(state);
        end = i;
      }
    }
    known = id != Trie::kNone;
    tokens->push_back({id, static_cast<uint32_t>(start), static_cast<uint32_t>(end)});
    start = end;
  }
  if (known) return OkStatus();
  tokens->resize(first_token);
  if (unk_id_ == Trie::kNone) {
    return MalformedFile("WordPiece: the vocabulary lacks the unknown token \"" + options_.unk_token + "\"");
  }
  tokens->push_back({unk_id_, 0, static_cast<uint32_t>(word.size())});
  return OkStatus();
}

}  // namespace peruse
