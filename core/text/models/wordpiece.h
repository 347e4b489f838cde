// Greedy longest match from the left (BERT, ELECTRA, ConvBERT).
#pragma once

#include <memory>
#include <string>

#include "core/text/models/model.h"

namespace peruse::text {

struct WordPieceOptions {
  std::string unk_token = "[UNK]";
  std::string continuing_subword_prefix = "##";
  int64_t max_input_chars_per_word = 100;  // longer words become the unknown token
};

class WordPiece final : public Model {
 public:
  WordPiece(Vocabulary vocabulary, WordPieceOptions options);

  // If any part of a word is unknown, the whole word becomes the unknown token.
  Status Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const override;

  const Vocabulary& vocabulary() const override { return vocabulary_; }
  std::string_view continuing_subword_prefix() const override { return options_.continuing_subword_prefix; }

 private:
  Vocabulary vocabulary_;
  WordPieceOptions options_;
  int32_t unk_id_;
  int32_t continuation_;  // state of ids' trie after the prefix of continuing tokens ("##")
};

}  // namespace peruse::text
