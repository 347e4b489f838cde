// How a sentence-transformers folder turns a text into one vector (read by core/api/sentence_modules_reader.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/heads/heads.h"
#include "core/ops/activation.h"
#include "core/tasks/pair_template.h"

namespace peruse {

enum class PoolingMode : uint8_t { kCls, kMean, kMax, kMeanSqrtLength, kWeightedMean, kLastToken };

// The role of a text in retrieval. Its prompt, its limit and the modules that encode it may depend on the role.
enum class TextRole : uint8_t { kQuery, kDocument };
inline constexpr std::string_view kTextRoles[] = {"query", "document"};  // in the order of the values

struct SentenceStep {
  enum class Kind : uint8_t { kDense, kNormalize };
  Kind kind = Kind::kNormalize;
  // The members below are only for kDense.
  std::string folder;  // folder of the weights, or their file
  int32_t in = 0;      // 0 means the size of the vectors that arrive
  int32_t out = 0;     // 0 means the size of the vectors that arrive
  bool bias = true;
  bool residual = false;  // whether to add the layer's input, multiplied by a second matrix if sizes differ
  Activation activation = Activation::kTanh;
};

// Turns the text's vector into a sparse one (SparseAutoEncoder).
struct SparseCoding {
  std::string folder;  // folder of the weights
  int32_t in = 0;
  int32_t out = 0;
  int32_t active = 0;       // number of latents that are kept, unless the caller chooses another
  bool normalizes = false;  // whether the vector is standardised first
};

// How a cross-encoder on a causal language model scores a pair: by the logit of a token, minus that of another one.
struct LogitScore {
  int32_t true_token = 0;
  std::optional<int32_t> false_token;

  std::vector<int32_t> tokens() const {
    return false_token ? std::vector{true_token, *false_token} : std::vector{true_token};
  }
};

// Tokens that complete a query for late interaction: each gives a row of the query's matrix.
struct QueryExpansion {
  bool cuts = false;      // whether a query with more than `length` tokens is cut
  bool attended = false;  // whether the encoder attends to the added tokens
  std::string token;      // empty means the mask token
  int32_t length = 0;     // number of tokens of a completed query
};

// Merges similar rows of a matrix (HierarchicalTokenPooling).
struct RowPooling {
  double factor = 1;           // number of rows that become one, on average
  int32_t protected_rows = 1;  // number of first rows that stay
  bool normalizes = false;     // whether rows are scaled to length 1 afterwards
  bool queries = false;        // which texts it applies to
  bool documents = true;
};

// Late interaction (ColBERT, Khattab and Zaharia, 2020): a text is a matrix with a row for each token.
struct MultiVector {
  std::optional<int32_t> query_length, document_length;  // limits in tokens
  std::optional<QueryExpansion> expansion;
  std::vector<std::string> skipped_words;  // tokens whose rows are left out
  bool skips_queries = false;
  bool skips_documents = true;
  // Beginnings of prompts that are one token, although the tokenizer would split them in a text.
  std::vector<std::string> markers;
  bool normalizes = false;  // whether rows are scaled to length 1 after all listed modules (PyLate)
  std::optional<RowPooling> pooling;
  int32_t omitted_rows = 0;  // number of first rows that are left out
  // Columns of the model's own layer linear.weight (Stanford's folders); 0 if the model does not have it.
  int32_t projection = 0;
};

struct SentenceModules {
  std::string model_folder;  // folder of config.json, tokenizer and weights; empty means the root folder
  std::vector<PoolingMode> pooling = {PoolingMode::kMean};  // vectors of several modes are concatenated
  bool include_prompt = true;                               // whether tokens of the prompt are pooled, too
  std::vector<SentenceStep> steps;
  // Set if a text's vector is sparse, with a number for each token of the vocabulary; then pooling and steps do not apply.
  std::optional<SparsePooling> sparse;
  // Set if a text's vector becomes sparse after all steps.
  std::optional<SparseCoding> coding;
  // Whether the steps give a number for each token, and the largest one of a token of the vocabulary is its weight in a sparse vector.
  bool weighs_tokens = false;
  // Set if a text is a matrix; then pooling does not apply, and steps apply to each row.
  std::optional<MultiVector> multi_vector;
  // Folder of the table that encodes queries (sparse_vectors.h); empty if the model encodes them.
  std::string query_folder;
  // The table's weights by token, if they are not in a file of weights.
  std::optional<std::vector<std::pair<std::string, float>>> query_table;
  // The modules that follow the same encoder for queries; null if they are those of documents (sentence-transformers' Router).
  std::shared_ptr<const SentenceModules> query;
  bool queries_by_default = false;  // whether texts are queries unless the caller says what they are
  bool needs_role = false;          // whether the caller must say what they are
  // Whether the last step returns logits of config.json's labels: a Dense without activation that modules.json calls "classifier". Peruse
  // writes such folders; for sentence_transformers these logits are the vector of a text.
  bool classifies = false;
  // Whether the last step returns the scores of a pair: the folder is a cross-encoder of Transformer, Pooling and Dense.
  bool scores = false;
  std::optional<LogitScore> logit_score;  // of a cross-encoder of Transformer and LogitScore
  // Whether pairs pass through the tokenizer's chat template; nullopt means if it has one.
  std::optional<bool> reads_messages;
  std::optional<int32_t> max_seq_length;  // in tokens
  // number of leading elements of a vector to return, unless the caller chooses another
  std::optional<int32_t> truncate_dim;
  std::optional<int32_t> max_active_dims;  // number of largest weights to keep of a sparse vector, likewise
  bool do_lower_case = false;
  std::map<std::string, std::string> prompts;
  std::optional<std::string> default_prompt;  // name of the prompt in `prompts` that is used by default
  std::string similarity = "cosine";
  std::string ranking_activation;  // activation of a cross-encoder: the name of a PyTorch class, or empty

  bool gives_sparse() const { return sparse || coding || weighs_tokens; }
};

// Returns `prompt`, or the folder's prompt called `name`, or the folder's default prompt, or "". Errors: kInvalidArgument, which lists the
// prompts.
Result<std::string> PromptOf(const SentenceModules& modules, const std::optional<std::string>& prompt,
                             const std::optional<std::string>& name, std::optional<TextRole> role = std::nullopt);

// How a folder ranks documents.
struct RankingSettings {
  SentenceModules modules;
  std::optional<PairTemplate> pair_template;
};

}  // namespace peruse
