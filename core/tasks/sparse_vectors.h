// Sparse vectors that are not the output of a masked language model's head.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/tasks/model_files.h"
#include "core/tasks/sentence_modules.h"
#include "core/text/tokenizer.h"

namespace peruse {

// Encodes queries of inference-free sparse encoders: a table has a weight for each token (sentence-transformers' SparseStaticEmbedding).
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

// Turns a text's vector into a sparse one: the most active of many latent numbers (SparseAutoEncoder of sentence-transformers; CSR, Wen et
// al., 2025).
class SparseCoder {
 public:
  // Errors: those of ReadModuleWeights.
  static Result<std::unique_ptr<SparseCoder>> Create(const ReadModelFile& read, const SparseCoding& coding);

  // Returns the latents of `vector`: the `most` largest, or those of the folder, if they are positive. All others are 0.
  std::vector<float> Encode(std::vector<float> vector, std::optional<int32_t> most) const;

 private:
  explicit SparseCoder(const SparseCoding& coding) : coding_(coding) {}

  const SparseCoding coding_;
  std::vector<float> pre_bias_;     // [in]
  std::vector<float> weight_;       // [out, in]
  std::vector<float> latent_bias_;  // [out]
};

}  // namespace peruse
