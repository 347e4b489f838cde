// Heads on an encoder. Each head adds operations to a program and names its outputs. Families define the tensor names; this file does not
// depend on families.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/ops/activation.h"
#include "core/program/build.h"

namespace peruse {

enum class Head : uint8_t {
  kNone,
  kSequenceClassification,
  kTokenClassification,
  kQuestionAnswering,
  kMaskedLm,
  kVocabulary,
  kTokenVectors,
  kMultipleChoice,
  kReplacedTokenDetection,
  kEntities,
  kLogitScore,
};

std::string_view HeadName(Head head);

// norm(activation(dense(x))) of some rows, which precedes a classifier. Layers with empty names are omitted.
struct RowTransform {
  std::string dense;  // hidden -> hidden
  Activation activation = Activation::kNone;
  std::string norm;
  bool dense_bias = true;
  bool norm_bias = true;
};

// Picks one row per text, then applies up to two linear layers: logits [sequences, labels]. transformers' classes and tensor names:
//   ConvBertClassificationHead, ElectraClassificationHead, RobertaClassificationHead   classifier.dense, classifier.out_proj
//   BertPooler, ContextPooler                                                          pooler.dense, classifier
//   *SequenceSummary                                                                   sequence_summary.summary, classifier
//   ModernBertPredictionHead                                                           head.dense, head.norm, classifier
struct PooledHead {
  static constexpr int32_t kNoPadding = -1;

  // The row that represents a text: its first, its last, or the mean of all rows.
  enum class Pick : uint8_t { kFirst, kLast, kMean };
  Pick pick = Pick::kFirst;
  RowTransform transform;       // applied to the picked row
  bool transforms_all = false;  // whether the transform is applied to all rows, before one is picked
  std::string classifier = "classifier";
  bool classifier_bias = true;
  int32_t labels = 0;
  bool normalized = false;  // scale the row to unit length
  bool drops_row = false;   // in training, also apply dropout to this row
  bool drops = true;        // in training, apply dropout to the classifier's input
  // With Pick::kLast, tokens of this id count as padding; kNoPadding means that none does.
  int32_t padding = kNoPadding;
};

// One linear layer per token: logits [tokens, labels] of *ForTokenClassification, [tokens, 2] (start, end) of *ForQuestionAnswering.
struct TokenHead {
  std::string classifier;
  int32_t labels = 0;
  bool drops_rows = false;  // in training, apply dropout to the classifier's input
  RowTransform transform;   // applied to every row, before dropout
};

// logits = norm(activation(dense(hidden))) decoder^T + bias for the requested tokens, [chosen, vocabulary]. If a family has several
// layouts, each list of names has one entry per layout. transformers' classes and tensor names:
//   BertLMPredictionHead, LegacyDebertaLMPredictionHead        cls.predictions
//   DebertaLMPredictionHead (the original code's layout)       lm_predictions.lm_head
//   ElectraGeneratorPredictions, ConvBertGeneratorPredictions  generator_predictions, generator_lm_head
//   RobertaLMHead                                              lm_head
//   ModernBertForMaskedLM                                      head, decoder
//   EuroBertForMaskedLM                                        lm_head: the decoder alone
struct MaskedLmHead {
  std::vector<std::string> dense;  // without .weight and .bias; empty if the decoder reads hidden states
  std::vector<std::string> norm;
  Activation activation = Activation::kNone;
  std::vector<std::string> decoder;  // full name of the matrix; empty if the family has no such head
  std::vector<std::string> bias;     // full names; empty if the decoder does not have a bias
  bool dense_bias = true;
  bool norm_bias = true;
};

// Logits [tokens, 1], positive where a token was replaced.
//   ElectraDiscriminatorPredictions             classifier(activation(dense(hidden)))
//   mask_predictions of the DeBERTa v3 code     classifier(activation(dense(norm(hidden + hidden of the first token))))
struct DiscriminatorHead {
  std::string norm;  // empty means that neither the norm nor the first token is used
  std::string dense;
  std::string classifier;
  Activation activation = Activation::kNone;
};

// Logits that a causal language model gives `tokens` as the next token of the text: [sequences, tokens]
// (sentence_transformers.cross_encoder.modules.LogitScore).
struct LogitScoreHead {
  std::string decoder;  // full name of the matrix; empty if the family has no language-model head
  std::vector<int32_t> tokens;
};

// How the masked-LM logits z of a text's tokens become the weights of its sparse vector (sentence-transformers' SpladePooling): the maximum
// over all tokens of log(1 + max(z, 0)), by default.
struct SparsePooling {
  bool sums = false;        // takes the sum over the tokens instead of the maximum
  bool logs_twice = false;  // log(1 + log(1 + max(z, 0))): the activation_function "log1p_relu"
};

struct HeadSizes {
  int32_t hidden = 0;
  int32_t embedding = 0;
  int32_t vocabulary = 0;
  float layer_norm_eps = 0;
};

void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const PooledHead& head);
void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const TokenHead& head);
void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const MaskedLmHead& head);
// Weights [sequences, vocabulary] of sparse vectors (SPLADE, Formal et al., 2021), as output kLogits. Pools the masked-LM logits of a part of
// the vocabulary at a time, so that the logits of all tokens are never stored.
void BuildVocabularyHead(Build& b, Value hidden, const HeadSizes& sizes, const MaskedLmHead& head,
                         const SparsePooling& pooling);
void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const DiscriminatorHead& head);
void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const LogitScoreHead& head);

}  // namespace peruse
