// What a folder of the library sentence-transformers says of turning a text into one vector: see
// core/api/sentence_modules_reader.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace peruse {

// How the vectors of a text's tokens become one (the reference: sentence_transformers, Pooling).
enum class PoolingMode : uint8_t { kCls, kMean, kMax, kMeanSqrtLength, kWeightedMean, kLastToken };

enum class DenseActivation : uint8_t { kIdentity, kTanh, kRelu, kGelu, kSigmoid };

// What is done to the pooled vector.
struct SentenceStep {
  enum class Kind : uint8_t { kDense, kNormalize };
  Kind kind = Kind::kNormalize;
  // kDense
  std::string folder;  // of its weights
  int32_t in = 0;
  int32_t out = 0;
  bool bias = true;
  bool residual = false;  // the layer's input is added: through a matrix of its own where the sizes differ
  DenseActivation activation = DenseActivation::kTanh;
};

struct SentenceModules {
  std::string model_folder;  // of config.json, tokenizer and weights; empty: the folder itself
  std::vector<PoolingMode> pooling = {PoolingMode::kMean};  // several: one vector behind the other
  bool include_prompt = true;                               // whether the tokens of the prompt are pooled, too
  std::vector<SentenceStep> steps;
  // Whether the last step is a classifier, whose results are logits of config.json's labels: a Dense without activation that modules.json
  // calls "classifier". Peruse writes it; sentence_transformers computes the logits as the text's vector.
  bool classifies = false;
  std::optional<int32_t> max_seq_length;  // tokens
  std::optional<int32_t> truncate_dim;    // the numbers of a vector that are given if the caller says nothing
  bool do_lower_case = false;
  std::map<std::string, std::string> prompts;
  std::optional<std::string> default_prompt;  // a name in `prompts`
  std::string similarity = "cosine";
  std::string ranking_activation;  // a cross-encoder's: the name of a class of PyTorch, or empty
};

}  // namespace peruse
