#include "core/tokenizer/unigram.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/base/utf8.h"

namespace peruse {
namespace {

// How much less likely an unknown character is than the least likely piece.
constexpr double kUnkPenalty = 10.0;

// Words of up to this many bytes are searched without allocating.
constexpr size_t kShortWord = 96;

}  // namespace

Result<std::unique_ptr<Unigram>> Unigram::Create(const UnigramPieces& pieces, int64_t unk_id, bool byte_fallback) {
  if (unk_id >= static_cast<int64_t>(pieces.size())) return MalformedFile("Unigram: unk_id is not in the vocabulary");
  std::unique_ptr<Unigram> unigram(new Unigram);
  VocabularyEntries entries;
  entries.reserve(pieces.size());
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

bool Unigram::Search(std::string_view word, Node* node) const {
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
        if (unk_id_ < 0) return false;
        node[one_char] = {score, static_cast<uint32_t>(start), unk_id_};
      }
    }
    start = one_char;
  }
  return true;
}

void Unigram::AddUnknown(std::string_view word, uint32_t begin, uint32_t end, std::vector<ModelToken>* tokens) const {
  const std::string_view text = word.substr(begin, end - begin);
  // A fused run can happen to be a piece.
  const int32_t id = vocabulary_.Find(text);
  if (id >= 0) return tokens->push_back({id, begin, end});
  const bool has_bytes = byte_fallback_ && std::all_of(text.begin(), text.end(), [this](char byte) {
                           return byte_ids_[static_cast<unsigned char>(byte)] >= 0;
                         });
  if (!has_bytes) return tokens->push_back({unk_id_, begin, end});
  for (const char byte : text) tokens->push_back({byte_ids_[static_cast<unsigned char>(byte)], begin, end});
}

Status Unigram::Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const {
  Node short_nodes[kShortWord + 1];
  std::vector<Node> long_nodes(word.size() > kShortWord ? word.size() + 1 : 0);
  Node* nodes = word.size() > kShortWord ? long_nodes.data() : short_nodes;
  if (!Search(word, nodes)) return MalformedFile("Unigram: a character is unknown and the model has no unk_id");
  // The path, backwards; neighbouring unknown nodes are one run. It is written behind the tokens and turned around.
  const size_t first = tokens->size();
  bool has_unknown = false;
  for (auto end = static_cast<uint32_t>(word.size()); end > 0;) {
    const Node& node = nodes[end];
    const bool is_unknown = node.id == unk_id_;
    if (is_unknown && tokens->size() > first && tokens->back().id == unk_id_) {
      tokens->back().begin = node.start;
    } else {
      tokens->push_back({node.id, node.start, end});
    }
    has_unknown |= is_unknown;
    end = node.start;
  }
  std::reverse(tokens->begin() + static_cast<std::ptrdiff_t>(first), tokens->end());
  if (!has_unknown) return OkStatus();
  const std::vector<ModelToken> path(tokens->begin() + static_cast<std::ptrdiff_t>(first), tokens->end());
  tokens->resize(first);
  for (const ModelToken& token : path) {
    if (token.id == unk_id_)
      AddUnknown(word, token.begin, token.end, tokens);
    else
      tokens->push_back(token);
  }
  return OkStatus();
}

}  // namespace peruse
