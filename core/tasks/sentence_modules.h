// How a sentence-transformers folder turns a text into one vector (read by core/api/sentence_modules_reader.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

struct SentenceModules {
  std::string model_folder;  // folder of config.json, tokenizer and weights; empty means the root folder
  std::vector<PoolingMode> pooling = {PoolingMode::kMean};  // vectors of several modes are concatenated
  bool include_prompt = true;                               // whether tokens of the prompt are pooled, too
  std::vector<SentenceStep> steps;
  // Whether the last step returns logits of config.json's labels: a Dense without activation that modules.json calls "classifier". Peruse
  // writes such folders; for sentence_transformers these logits are the vector of a text.
  bool classifies = false;
  std::optional<int32_t> max_seq_length;  // in tokens
  // number of leading elements of a vector to return, unless the caller chooses another
  std::optional<int32_t> truncate_dim;
  bool do_lower_case = false;
  std::map<std::string, std::string> prompts;
  std::optional<std::string> default_prompt;  // name of the prompt in `prompts` that is used by default
  std::string similarity = "cosine";
  std::string ranking_activation;  // activation of a cross-encoder: the name of a PyTorch class, or empty
};

}  // namespace peruse
