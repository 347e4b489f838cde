// How a sentence-transformers folder turns a text into one vector (read by core/api/sentence_modules_reader.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/tasks/pair_template.h"

namespace peruse {

enum class PoolingMode : uint8_t { kCls, kMean, kMax, kMeanSqrtLength, kWeightedMean, kLastToken };

enum class DenseActivation : uint8_t { kIdentity, kTanh, kRelu, kGelu, kSigmoid };

struct SentenceStep {
  enum class Kind : uint8_t { kDense, kNormalize };
  Kind kind = Kind::kNormalize;
  // The members below are only for kDense.
  std::string folder;  // folder of the weights
  int32_t in = 0;
  int32_t out = 0;
  bool bias = true;
  bool residual = false;  // whether to add the layer's input, multiplied by a second matrix if sizes differ
  DenseActivation activation = DenseActivation::kTanh;
};

// How a cross-encoder on a causal language model scores a pair: by the logit of a token, minus that of another one.
struct LogitScore {
  int32_t true_token = 0;
  std::optional<int32_t> false_token;

  std::vector<int32_t> tokens() const {
    return false_token ? std::vector{true_token, *false_token} : std::vector{true_token};
  }
};

struct SentenceModules {
  std::string model_folder;  // folder of config.json, tokenizer and weights; empty means the root folder
  std::vector<PoolingMode> pooling = {PoolingMode::kMean};  // vectors of several modes are concatenated
  bool include_prompt = true;                               // whether tokens of the prompt are pooled, too
  std::vector<SentenceStep> steps;
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
  bool do_lower_case = false;
  std::map<std::string, std::string> prompts;
  std::optional<std::string> default_prompt;  // name of the prompt in `prompts` that is used by default
  std::string similarity = "cosine";
  std::string ranking_activation;  // activation of a cross-encoder: the name of a PyTorch class, or empty
};

// Returns `prompt`, or the folder's prompt called `name`, or the folder's default prompt, or "". Errors: kInvalidArgument, which lists the
// prompts.
Result<std::string> PromptOf(const SentenceModules& modules, const std::optional<std::string>& prompt,
                             const std::optional<std::string>& name);

// How a folder ranks documents.
struct RankingSettings {
  SentenceModules modules;
  std::optional<PairTemplate> pair_template;
};

}  // namespace peruse
