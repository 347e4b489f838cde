#include "core/text/models/bpe.h"

#include <algorithm>
#include <bit>

#include "core/base/memory.h"
#include "core/base/utf8.h"

namespace peruse::text {
namespace {

uint64_t PairKey(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

size_t Hash(uint64_t key) {
  key *= 0x9E3779B97F4A7C15u;
  return static_cast<size_t>(key ^ key >> 29);
}

std::string ByteToken(unsigned char byte) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  return std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">";
}

Status NoMemory() { return OutOfMemory("no memory for the merges of BPE"); }

// Words with at most this many symbols search linearly for the lowest rank, which is faster than a heap.
constexpr size_t kShortWord = 32;

}  // namespace

Bpe::Bpe(Vocabulary vocabulary, BpeOptions options)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      unk_id_(options_.unk_token ? vocabulary_.Find(*options_.unk_token) : -1) {
  for (int byte = 0; byte < 256; ++byte) {
    byte_ids_[byte] = options_.byte_fallback ? vocabulary_.Find(ByteToken(static_cast<unsigned char>(byte))) : -1;
  }
  for (char32_t c = 0; c < 0x200; ++c) {
    std::string text;
    AppendUtf8(c, &text);
    short_ids_[c] = vocabulary_.Find(text);
  }
}

Result<std::unique_ptr<Bpe>> Bpe::Create(Vocabulary vocabulary, const BpeMerges& merges, BpeOptions options) {
  std::unique_ptr<Bpe> bpe(new Bpe(std::move(vocabulary), std::move(options)));
  if (merges.size() > UINT32_MAX / 4) return MalformedFile("BPE: too many merges");
  // Limits prefix and suffix, because every character of a word is looked up with them.
  constexpr size_t kLongest = 256;
  if (bpe->options_.continuing_subword_prefix.size() > kLongest || bpe->options_.end_of_word_suffix.size() > kLongest) {
    return Unsupported("BPE: continuing_subword_prefix or end_of_word_suffix of more than 256 bytes");
  }
  // In this combination tokenizers counts the prefix as part of the text, so that its offsets exceed the text.
  if (!bpe->IsPlain() && bpe->options_.byte_fallback) {
    return Unsupported("BPE: byte_fallback together with continuing_subword_prefix or end_of_word_suffix");
  }
  if (!TryResize(&bpe->slots_, std::bit_ceil(merges.size() * 2 + 1))) return NoMemory();
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    PERUSE_RETURN_IF_ERROR(bpe->AddMerge(merges[rank].first, merges[rank].second, static_cast<uint32_t>(rank)));
  }
  return bpe;
}

Status Bpe::AddMerge(std::string_view left, std::string_view right, uint32_t rank) {
  const int32_t left_id = vocabulary_.Find(left), right_id = vocabulary_.Find(right);
  // The right part of a merge starts with the continuation prefix, which the merged token does not repeat.
  const size_t prefix = std::min(options_.continuing_subword_prefix.size(), right.size());
  std::string merged;
  if (!TryAppend(&merged, left) || !TryAppend(&merged, right.substr(prefix))) return NoMemory();
  const int32_t id = vocabulary_.Find(merged);
  if (left_id < 0 || right_id < 0 || id < 0) {
    return MalformedFile("BPE: the merge of \"" + Excerpt(left) + "\" and \"" + Excerpt(right) +
                         "\" names a token that is not in the vocabulary");
  }
  const uint64_t key = PairKey(left_id, right_id);
  size_t slot = Hash(key) & (slots_.size() - 1);
  while (slots_[slot].key != kEmpty && slots_[slot].key != key) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = {key, {rank, id}};  // the last rank of a repeated merge counts, as in tokenizers
  return OkStatus();
}

const Bpe::Merge* Bpe::FindMerge(int32_t left, int32_t right) const {
  const uint64_t key = PairKey(left, right);
  for (size_t slot = Hash(key) & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
    if (slots_[slot].key == key) return &slots_[slot].merge;
    if (slots_[slot].key == kEmpty) return nullptr;
  }
}

bool Bpe::HasBytes(std::string_view text) const {
  return options_.byte_fallback && std::all_of(text.begin(), text.end(), [this](char byte) {
           return byte_ids_[static_cast<unsigned char>(byte)] >= 0;
         });
}

bool Bpe::AddBytes(std::string_view text, size_t begin, std::vector<Symbol>* symbols) const {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto at = static_cast<uint32_t>(begin + i);
    if (!TryPushBack(symbols, {byte_ids_[static_cast<unsigned char>(text[i])], at, at + 1, 0, 0})) return false;
  }
  return true;
}

Status Bpe::Split(std::string_view word, std::vector<Symbol>* symbols) const {
  const bool plain = IsPlain();
  std::string decorated;
  // As in tokenizers, an unknown character is emitted just before the next known one, after any byte tokens in between.
  std::optional<Symbol> unknown;
  const auto add_unknown = [&] {
    if (!unknown) return true;
    const bool added = TryPushBack(symbols, *unknown);
    unknown.reset();
    return added;
  };
  for (size_t position = 0; position < word.size();) {
    const size_t begin = position;
    const char32_t c = DecodeUtf8(word, &position);
    std::string_view text = word.substr(begin, position - begin);
    int32_t id;
    if (plain) {
      id = c < 0x200 ? short_ids_[c] : vocabulary_.Find(text);
    } else {
      const std::string_view prefix = begin > 0 ? options_.continuing_subword_prefix : std::string_view();
      const std::string_view suffix = position == word.size() ? options_.end_of_word_suffix : std::string_view();
      if (!TryAssign(&decorated, prefix) || !TryAppend(&decorated, text) || !TryAppend(&decorated, suffix)) {
        return NoMemory();
      }
      text = decorated;
      id = vocabulary_.Find(text);
    }
    const auto symbol_begin = static_cast<uint32_t>(begin), symbol_end = static_cast<uint32_t>(position);
    if (id >= 0) {
      if (!add_unknown() || !TryPushBack(symbols, {id, symbol_begin, symbol_end, 0, 0})) return NoMemory();
    } else if (HasBytes(text)) {
      if (!AddBytes(text, begin, symbols)) return NoMemory();
    } else if (options_.unk_token) {
      if (unk_id_ < 0) {
        return MalformedFile("BPE: the vocabulary lacks the unknown token \"" + Excerpt(*options_.unk_token) + "\"");
      }
      if (unknown && options_.fuse_unk) {
        unknown->end += symbol_end - symbol_begin;
      } else {
        if (!add_unknown()) return NoMemory();
        unknown = Symbol{unk_id_, symbol_begin, symbol_end, 0, 0};
      }
    }
  }
  if (!add_unknown()) return NoMemory();
  // tokenizers derives positions from token lengths, so that dropped or reordered characters shift the following tokens.
  uint32_t position = 0;
  for (Symbol& symbol : *symbols) {
    const uint32_t length = symbol.end - symbol.begin;
    symbol.begin = position;
    symbol.end = position += length;
  }
  return OkStatus();
}

void Bpe::MergeShort(std::vector<Symbol>* symbols) const {
  const Merge* merges[kShortWord];
  size_t count = symbols->size();
  for (size_t i = 0; i + 1 < count; ++i) merges[i] = FindMerge((*symbols)[i].id, (*symbols)[i + 1].id);
  while (true) {
    size_t best = count;
    for (size_t i = 0; i + 1 < count; ++i) {
      if (merges[i] != nullptr && (best == count || merges[i]->rank < merges[best]->rank)) best = i;
    }
    if (best == count) break;
    Symbol& merged = (*symbols)[best];
    merged.id = merges[best]->id;
    merged.end = (*symbols)[best + 1].end;
    std::copy(symbols->begin() + static_cast<std::ptrdiff_t>(best) + 2,
              symbols->begin() + static_cast<std::ptrdiff_t>(count),
              symbols->begin() + static_cast<std::ptrdiff_t>(best) + 1);
    std::copy(merges + best + 1, merges + count - 1, merges + best);
    --count;
    if (best > 0) merges[best - 1] = FindMerge((*symbols)[best - 1].id, merged.id);
    if (best + 1 < count) merges[best] = FindMerge(merged.id, (*symbols)[best + 1].id);
  }
  symbols->resize(count);
}

bool Bpe::MergeLong(std::vector<Symbol>* symbols_out) const {
  std::vector<Symbol>& symbols = *symbols_out;
  const auto count = static_cast<int32_t>(symbols.size());
  // Merge candidates, ordered by rank, then position. A candidate is outdated if its merged token has changed.
  struct Candidate {
    uint64_t order;  // rank << 32 | position
    int32_t id;
    bool operator<(const Candidate& other) const { return order > other.order; }
  };
  std::vector<Candidate> heap;
  if (!TryReserve(&heap, symbols.size())) return false;
  const auto candidate = [&](int32_t left) -> std::optional<Candidate> {
    const int32_t right = symbols[static_cast<size_t>(left)].next;
    if (right < 0) return std::nullopt;
    const Merge* merge = FindMerge(symbols[static_cast<size_t>(left)].id, symbols[static_cast<size_t>(right)].id);
    if (merge == nullptr) return std::nullopt;
    return Candidate{uint64_t{merge->rank} << 32 | static_cast<uint32_t>(left), merge->id};
  };
  for (int32_t i = 0; i < count; ++i) {
    symbols[static_cast<size_t>(i)].previous = i - 1;
    symbols[static_cast<size_t>(i)].next = i + 1 < count ? i + 1 : -1;
  }
  for (int32_t i = 0; i < count; ++i) {
    if (const auto c = candidate(i)) heap.push_back(*c);
  }
  std::make_heap(heap.begin(), heap.end());
  const auto add = [&](int32_t left) {
    const std::optional<Candidate> c = candidate(left);
    if (!c) return true;
    if (!TryPushBack(&heap, *c)) return false;
    std::push_heap(heap.begin(), heap.end());
    return true;
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Candidate top = heap.back();
    heap.pop_back();
    const auto at = static_cast<int32_t>(top.order & 0xFFFFFFFF);
    Symbol& left = symbols[static_cast<size_t>(at)];
    if (left.id < 0 || left.next < 0) continue;  // the left symbol was merged into another, or is the last one
    Symbol& right = symbols[static_cast<size_t>(left.next)];
    const Merge* merge = FindMerge(left.id, right.id);
    if (merge == nullptr || merge->id != top.id) continue;
    left.id = merge->id;
    left.end = right.end;
    left.next = right.next;
    right.id = -1;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = at;
    if (left.previous >= 0 && !add(left.previous)) return false;
    if (!add(at)) return false;
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.id < 0; });
  return true;
}

Status Bpe::Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const {
  if (options_.ignore_merges) {
    if (const int32_t id = vocabulary_.Find(word); id >= 0) {
      return TryPushBack(tokens, {id, 0, static_cast<uint32_t>(word.size())}) ? OkStatus() : NoMemory();
    }
  }
  std::vector<Symbol> symbols;
  if (!TryReserve(&symbols, word.size())) return NoMemory();
  PERUSE_RETURN_IF_ERROR(Split(word, &symbols));
  if (symbols.size() <= kShortWord)
    MergeShort(&symbols);
  else if (!MergeLong(&symbols))
    return NoMemory();
  if (!TryGrow(tokens, symbols.size())) return NoMemory();
  for (const Symbol& symbol : symbols) tokens->push_back({symbol.id, symbol.begin, symbol.end});
  return OkStatus();
}

}  // namespace peruse::text
