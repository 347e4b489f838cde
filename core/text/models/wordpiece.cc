#include "core/text/models/wordpiece.h"

#include "core/base/memory.h"
#include "core/base/utf8.h"

namespace peruse::text {
namespace {

// Limits comparisons to kStepsPerByte bytes per byte of text on average. Long words only occur if max_input_chars_per_word is large.
constexpr size_t kStepsPerByte = 128, kLeastBytes = 4096;

Status NoMemory() { return OutOfMemory("no memory for the pieces of WordPiece"); }

}  // namespace

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
  size_t steps = 0;
  const size_t most = kStepsPerByte * (word.size() + kLeastBytes);
  for (size_t start = 0; known && start < word.size();) {
    if (steps > most) return Unsupported("WordPiece: the vocabulary's pieces are too long for this text");
    int32_t state = start == 0 ? Trie::kRoot : continuation_;
    int32_t id = Trie::kNone;
    size_t end = start;
    for (size_t i = start; i < word.size() && state != Trie::kNone;) {
      state = trie.Next(state, word[i++]);
      ++steps;
      if (state != Trie::kNone && trie.Value(state) != Trie::kNone) {
        id = trie.Value(state);
        end = i;
      }
    }
    known = id != Trie::kNone;
    if (!TryPushBack(tokens, {id, static_cast<uint32_t>(start), static_cast<uint32_t>(end)})) return NoMemory();
    start = end;
  }
  if (known) return OkStatus();
  tokens->resize(first_token);
  if (unk_id_ == Trie::kNone) {
    return MalformedFile("WordPiece: the vocabulary lacks the unknown token \"" + Excerpt(options_.unk_token) + "\"");
  }
  return TryPushBack(tokens, {unk_id_, 0, static_cast<uint32_t>(word.size())}) ? OkStatus() : NoMemory();
}

}  // namespace peruse::text
