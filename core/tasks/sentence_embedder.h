// Applies the modules of a sentence-transformers folder: pooling, dense layers and normalisation turn token vectors into a text vector.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/families/config.h"
#include "core/tasks/model_files.h"
#include "core/tasks/sentence_modules.h"
#include "core/tasks/sparse_vectors.h"
#include "core/text/tokenizer.h"

namespace peruse {

class SentenceEmbedder {
 public:
  // `read` returns files of the folders that `modules` names. `width` is the size of the token vectors. Errors: those of reading weights,
  // kShapeMismatch.
  static Result<std::unique_ptr<SentenceEmbedder>> Create(SentenceModules modules, const ReadModelFile& read,
                                                          int32_t width);

  const SentenceModules& modules() const { return modules_; }
  // Returns the embedder of texts with this role: that of queries has modules of its own if a Router distinguishes them.
  const SentenceEmbedder& For(std::optional<TextRole> role) const;

  struct Reading {
    text::Encoding tokens;
    size_t skip = 0;   // number of leading tokens that are not pooled
    int32_t keys = 0;  // number of leading tokens that the encoder attends to; 0 means all
  };
  // Tokenizes `prompt` followed by `text`, cut to the folder's limit. Errors: kInvalidArgument if the prompt leaves no space.
  Result<Reading> Read(const text::Tokenizer& tokenizer, const ModelConfig& config, std::string_view prompt,
                       std::string_view text) const;
  // The same for late interaction: adds the tokens of a query's expansion. Errors: kUnsupported if the tokenizer lacks their token.
  Result<Reading> ReadRows(const text::Tokenizer& tokenizer, const ModelConfig& config, std::optional<TextRole> role,
                           const std::string& text) const;
  // The table that encodes queries; null if the model encodes them.
  const TokenWeights* query_weights() const { return query_weights_.get(); }
  size_t width() const { return out_; }
  // `tokens` is [count, width]. The first `skip` < count tokens are not pooled.
  std::vector<float> Embed(std::span<const float> tokens, size_t skip) const;
  // Turns the text's vector into a sparse one; null if it stays dense.
  const SparseCoder* coder() const { return coder_.get(); }
  // Returns the text's matrix for late interaction [rows, width()], of token vectors [ids, width]. Errors: kOutOfMemory.
  Result<std::vector<float>> EmbedRows(const text::Tokenizer& tokenizer, std::optional<TextRole> role,
                                       std::span<const int32_t> ids, std::span<const float> tokens) const;
  // For weighs_tokens: returns the weights of the vocabulary's tokens, of which there are `size`. Special tokens of the beginning, the end and
  // padding, and the unknown token, have none.
  std::vector<float> WeighTokens(const text::Tokenizer& tokenizer, std::span<const int32_t> ids,
                                 std::span<const float> tokens, int32_t size) const;

 private:
  struct Dense {
    std::vector<float> weight;  // [out, in]
    std::vector<float> bias;    // [out], or empty
    // matrix of the input that is added to the result [out, in]; empty if nothing, or the input itself, is added
    std::vector<float> residual;
  };

  explicit SentenceEmbedder(int32_t width) : width_(width) {}
  // Lower-cases the text if the folder requires it, except special tokens, as a lower-casing tokenizer does.
  std::string Cased(const text::Tokenizer& tokenizer, std::string text) const;
  Status ReadDense(const ReadModelFile& read, const SentenceStep& step);
  // Returns the limit of a text's tokens: the folder's, or that of the tokenizer or the model.
  int32_t Limit(const text::Tokenizer& tokenizer, const ModelConfig& config, std::optional<TextRole> role) const;
  std::vector<float> ApplySteps(std::vector<float> vector) const;

  const int32_t width_;
  size_t out_ = 0;
  SentenceModules modules_;
  std::unique_ptr<SentenceEmbedder> queries_;
  std::unique_ptr<TokenWeights> query_weights_;
  std::unique_ptr<SparseCoder> coder_;
  std::vector<Dense> dense_;  // dense layers, in order
};

}  // namespace peruse
