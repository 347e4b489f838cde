// Byte pair encoding: repeatedly merges the neighbours of lowest rank (GPT-2, RoBERTa, DeBERTa v1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/models/model.h"

namespace peruse::text {

struct BpeOptions {
  std::optional<std::string> unk_token;  // if nullopt, characters outside the vocabulary are dropped
  std::string continuing_subword_prefix;
  std::string end_of_word_suffix;
  bool fuse_unk = false;       // a run of unknown characters becomes one token
  bool byte_fallback = false;  // unknown characters become "<0x41>" tokens if the vocabulary has all of them
  bool ignore_merges = false;  // a word in the vocabulary is one token
};

using BpeMerges = std::vector<std::pair<std::string_view, std::string_view>>;

class Bpe final : public Model {
 public:
  // Errors: kMalformedFile if the vocabulary lacks a token of a merge, or the merged token.
  static Result<std::unique_ptr<Bpe>> Create(Vocabulary vocabulary, const BpeMerges& merges, BpeOptions options);

  Status Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const override;
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::string_view continuing_subword_prefix() const override { return options_.continuing_subword_prefix; }

 private:
  // A token under construction: bytes [begin, end) of the word. Symbols form a doubly linked list.
  struct Symbol {
    int32_t id;
    uint32_t begin, end;
    int32_t previous, next;  // -1 at the ends
  };
  struct Merge {
    uint32_t rank;
    int32_t id;
  };

  Bpe(Vocabulary vocabulary, BpeOptions options);
  Status AddMerge(std::string_view left, std::string_view right, uint32_t rank);
  const Merge* FindMerge(int32_t left, int32_t right) const;
  Status Split(std::string_view word, std::vector<Symbol>* symbols) const;
  bool IsPlain() const { return options_.continuing_subword_prefix.empty() && options_.end_of_word_suffix.empty(); }
  bool HasBytes(std::string_view text) const;
  [[nodiscard]] bool AddBytes(std::string_view text, size_t begin, std::vector<Symbol>* symbols) const;
  void MergeShort(std::vector<Symbol>* symbols) const;
  [[nodiscard]] bool MergeLong(std::vector<Symbol>* symbols) const;

  Vocabulary vocabulary_;
  BpeOptions options_;
  int32_t unk_id_;
  int32_t byte_ids_[256];     // ids of the byte tokens, or -1
  int32_t short_ids_[0x200];  // ids of one-character tokens below U+0200, or -1

  // Hash table from a pair of token ids to its merge: open addressing, with a power of two of slots. Empty slots have the key kEmpty.
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  struct Slot {
    uint64_t key = kEmpty;
    Merge merge{};
  };
  std::vector<Slot> slots_;
};

}  // namespace peruse::text
