// Finds the segmentation of highest probability (SentencePiece's Unigram model: DeBERTa v2 and v3, T5).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/models/model.h"

namespace peruse::text {

// Pieces with log-probabilities, indexed by id.
using UnigramPieces = std::vector<std::pair<std::string_view, double>>;

class Unigram final : public Model {
 public:
  // `unk_id` is -1 if there is no unknown token. Errors: kMalformedFile if it is out of range.
  static Result<std::unique_ptr<Unigram>> Create(const UnigramPieces& pieces, int64_t unk_id, bool byte_fallback);

  Status Tokenize(std::string_view word, std::vector<ModelToken>* tokens) const override;
  const Vocabulary& vocabulary() const override { return vocabulary_; }
  int32_t text_token_id() const override { return unk_id_; }

 private:
  struct Node {
    double score;
    uint32_t start;
    int32_t id;
  };
  static constexpr uint32_t kUnreached = UINT32_MAX;

  Unigram() = default;
  // Sets the nodes of `word`, one more than its bytes. Errors: kMalformedFile if the vocabulary lacks a token for an unknown character.
  Status Search(std::string_view word, Node* nodes) const;
  [[nodiscard]] bool AddUnknown(std::string_view word, uint32_t begin, uint32_t end,
                                std::vector<ModelToken>* tokens) const;

  Vocabulary vocabulary_;
  std::vector<double> scores_;  // indexed by id
  double unk_score_ = 0;
  int32_t unk_id_ = -1;
  bool byte_fallback_ = false;
  int32_t byte_ids_[256];
};

}  // namespace peruse::text
