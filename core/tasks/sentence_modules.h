// A sentence-transformers folder's steps from a text to one vector: see core/api/sentence_modules_reader.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace peruse {

// Pooling modes of sentence_transformers.
enum class PoolingMode : uint8_t { kCls, kMean, kMax, kMeanSqrtLength, kWeightedMean, kLastToken };

enum class DenseActivation : uint8_t { kIdentity, kTanh, kRelu, kGelu, kSigmoid };

// A step after the pooling.
struct SentenceStep {
  enum class Kind : uint8_t { kDense, kNormalize };
  Kind kind = Kind::kNormalize;
  // kDense:
  std::string folder;  // of its weights
  int32_t in = 0;
  int32_t out = 0;
  bool bias = true;
  bool residual = false;  // adds the layer's input, through its own matrix if the sizes differ
  DenseActivation activation = DenseActivation::kTanh;
};

struct SentenceModules {
  std::string model_folder;  // folder of config.json, tokenizer and weights; empty means the root
  std::vector<PoolingMode> pooling = {PoolingMode::kMean};  // several modes are concatenated
  bool include_prompt = true;                               // whether the prompt's tokens are pooled
  std::vector<SentenceStep> steps;
  // Whether the last step is a classifier that returns logits of config.json's labels: a Dense without activation that modules.json calls
  // "classifier". Peruse writes it; sentence_transformers returns the logits as the text's vector.
  bool classifies = false;
  std::optional<int32_t> max_seq_length;  // tokens
  std::optional<int32_t> truncate_dim;    // default number of leading vector elements to return
  bool do_lower_case = false;
  std::map<std::string, std::string> prompts;
  std::optional<std::string> default_prompt;  // a name in `prompts`
  std::string similarity = "cosine";
  std::string ranking_activation;  // a cross-encoder's activation: the name of a PyTorch class, or empty
};

}  // namespace peruse
