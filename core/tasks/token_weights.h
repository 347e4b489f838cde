// Encodes queries of inference-free sparse encoders: a table has a weight for each token (sentence-transformers' SparseStaticEmbedding).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/tasks/model_file.h"
#include "core/tasks/sentence_modules.h"
#include "core/text/tokenizer.h"

namespace peruse {

class TokenWeights {
 public:
  // `read` returns the files of modules.query_folder: a tokenizer, and the weights unless modules.query_table has them. Errors: those of the
  // files.
  static Result<std::unique_ptr<TokenWeights>> Create(const ReadModelFile& read, const SentenceModules& modules);

  // Tokenizes a text without special tokens, cut to the tokenizer's limit.
  Result<text::Encoding> Read(std::string_view text) const;
  // Returns the weights of these tokens, and 0 for all others [vocabulary].
  std::vector<float> WeightsOf(std::span<const int32_t> ids) const;
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }

 private:
  explicit TokenWeights(std::unique_ptr<text::Tokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {}

  const std::unique_ptr<text::Tokenizer> tokenizer_;
  std::vector<float> weights_;  // by token id
};

}  // namespace peruse
