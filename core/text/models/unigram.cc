#include "core/text/models/unigram.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/memory.h"
#include "core/base/utf8.h"

namespace peruse::text {
namespace {

// An unknown character has the log-probability of the least likely piece, minus this.
constexpr double kUnkPenalty = 10.0;

// Words of up to this many bytes do not allocate.
constexpr size_t kShortWord = 96;

// Limits comparisons to kStepsPerByte bytes per byte of text on average, because pieces are compared at every character.
constexpr size_t kStepsPerByte = 128, kLeastBytes = 4096;

Status NoMemory() { return OutOfMemory("no memory for the pieces of Unigram"); }

}  // namespace

Result<std::unique_ptr<Unigram>> Unigram::Create(const UnigramPieces& pieces, int64_t unk_id, bool byte_fallback) {
  if (unk_id >= static_cast<int64_t>(pieces.size())) return MalformedFile("Unigram: unk_id is not in the vocabulary");
  std::unique_ptr<Unigram> unigram(new Unigram);
  VocabularyEntries entries;
  if (!TryReserve(&entries, pieces.size()) || !TryReserve(&unigram->scores_, pieces.size())) return NoMemory();
  double lowest = std::numeric_limits<double>::infinity();
  for (const auto& [piece, score] : pieces) {
    entries.push_back({piece, static_cast<int32_t>(entries.size())});
    unigram->scores_.push_back(score);
    lowest = std::min(lowest, score);
  }
  PERUSE_ASSIGN_OR_RETURN(unigram->vocabulary_, Vocabulary::Create(entries, true));
  unigram->unk_score_ = lowest - kUnkPenalty;
  unigram->unk_id_ = unk_id < 0 ? -1 : static_cast<int32_t>(unk_id);
  unigram->byte_fallback_ = byte_fallback;
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (size_t byte = 0; byte < 256; ++byte) {
    unigram->byte_ids_[byte] = unigram->vocabulary_.Find(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">");
  }
  return unigram;
}

Status Unigram::Search(std::string_view word, Node* node) const {
  size_t steps = 0;
  const size_t most = kStepsPerByte * (word.size() + kLeastBytes);
  std::fill(node, node + word.size() + 1, Node{0.0, kUnreached, 0});
  const Trie& trie = vocabulary_.trie();
  for (size_t start = 0; start < word.size();) {
    const double here = node[start].score;
    const size_t one_char = start + static_cast<size_t>(Utf8Length(static_cast<unsigned char>(word[start])));
    bool has_one_char = false;
    int32_t state = Trie::kRoot;
    for (size_t end = start; end < word.size();) {
      state = trie.Next(state, word[end++]);
      if (state == Trie::kNone) break;
      ++steps;
      const int32_t id = trie.Value(state);
      if (id == Trie::kNone) continue;
      const double score = scores_[static_cast<size_t>(id)] + here;
      if (node[end].start == kUnreached || score > node[end].score)
        node[end] = {score, static_cast<uint32_t>(start), id};
      has_one_char |= end == one_char;
    }
    if (!has_one_char) {
      const double score = unk_score_ + here;
      if (node[one_char].start == kUnreached || score > node[one_char].score) {
        if (unk_id_ < 0) return MalformedFile("Unigram: a character is unknown and the model has no unk_id");
        node[one_char] = {score, static_cast<uint32_t>(start), unk_id_};
      }
    }
    if (steps > most) return Unsupported("Unigram: the vocabulary's pieces are too long for this text");
    start = one_char;
  }
  return OkStatus();
}

bool Unigram::AddUnknown(std::string_view word, uint32_t begin, uint32_t end, std::vector<ModelToken>* tokens) const {
  const std::string_view text = word.substr(begin, end - begin);
  // A whole run of unknown characters can be a token of the vocabulary, although no shorter part is.
  const int32_t id = vocabulary_.Find(text);
  if (id >= 0) return TryPushBack(tokens, {id, begin, end});
  const bool has_bytes = byte_fallback_ && std::all_of(text.begin(), text.end(), [this](char byte) {
                           return byte_ids_[static_cast<unsigned char>(byte)] >= 0;
                         });
  if (!has_bytes) return TryPushBack(tokens, {unk_id_, begin, end});
  if (!TryGrow(tokens, text.size())) return false;
  for (const char byte : text) tokens->push_back({byte_ids_[static_cast<unsigned char>(byte)], begin, end});
  return true;
}

Status Unigram::Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const {
  Node short_nodes[kShortWord + 1];
  std::vector<Node> long_nodes;
  if (word.size() > kShortWord && !TryResize(&long_nodes, word.size() + 1)) return NoMemory();
  Node* nodes = word.size() > kShortWord ? long_nodes.data() : short_nodes;
  PERUSE_RETURN_IF_ERROR(Search(word, nodes));
  // Follows the best path backwards and joins adjacent unknown nodes to one run. Appends tokens in reverse order, then reverses them.
  const size_t first = tokens->size();
  bool has_unknown = false;
  for (auto end = static_cast<uint32_t>(word.size()); end > 0;) {
    const Node& node = nodes[end];
    const bool is_unknown = node.id == unk_id_;
    if (is_unknown && tokens->size() > first && tokens->back().id == unk_id_) {
      tokens->back().begin = node.start;
    } else if (!TryPushBack(tokens, {node.id, node.start, end})) {
      return NoMemory();
    }
    has_unknown |= is_unknown;
    end = node.start;
  }
  std::reverse(tokens->begin() + static_cast<std::ptrdiff_t>(first), tokens->end());
  if (!has_unknown) return OkStatus();
  std::vector<ModelToken> path;
  if (!TryReserve(&path, tokens->size() - first)) return NoMemory();
  path.assign(tokens->begin() + static_cast<std::ptrdiff_t>(first), tokens->end());
  tokens->resize(first);
  for (const ModelToken& token : path) {
    const bool added =
        token.id == unk_id_ ? AddUnknown(word, token.begin, token.end, tokens) : TryPushBack(tokens, token);
    if (!added) return NoMemory();
  }
  return OkStatus();
}

}  // namespace peruse::text
