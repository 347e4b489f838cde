// Heads on an encoder. Each adds its operations to a program and names its outputs.
//
// A family defines its checkpoints' tensor names of a head; this file does not depend on families.
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
  kMultipleChoice,
  kReplacedTokenDetection,
  kEntities,
};

// "sequence classification", for messages.
std::string_view HeadName(Head head);

// norm(activation(dense(x))) of some rows, before a classifier. A layer with an empty name is omitted.
struct RowTransform {
  std::string dense;  // hidden -> hidden
  Activation activation = Activation::kNone;
  std::string norm;
  bool dense_bias = true;
  bool norm_bias = true;
};

// One row per text, then up to two linear layers: logits [sequences, labels].
//   ConvBertClassificationHead, ElectraClassificationHead, RobertaClassificationHead   classifier.dense, classifier.out_proj
//   BertPooler, ContextPooler                                                          pooler.dense, classifier
//   *SequenceSummary                                                                   sequence_summary.summary, classifier
//   ModernBertPredictionHead                                                           head.dense, head.norm, classifier
struct PooledHead {
  // The row of a text: its first row, its last, or the mean of all.
  enum class Pick : uint8_t { kFirst, kLast, kMean };
  Pick pick = Pick::kFirst;
  RowTransform transform;  // of the picked row
  std::string classifier = "classifier";
  int32_t labels = 0;
  bool normalized = false;  // scale the row to unit length
  bool drops_row = false;   // in training, apply dropout also to this row, not only to the classifier's input
};

// One linear layer on every token. *ForTokenClassification: logits [tokens, labels]; *ForQuestionAnswering: logits [tokens, 2], start and
// end.
struct TokenHead {
  std::string classifier;
  int32_t labels = 0;
  bool drops_rows = false;  // in training, apply dropout to the classifier's input
  RowTransform transform;   // of every row, before that dropout
};

// logits = norm(activation(dense(hidden))) decoder^T + bias for the chosen tokens: [chosen, vocabulary]
//   BertLMPredictionHead, LegacyDebertaLMPredictionHead        cls.predictions
//   DebertaLMPredictionHead (the original code's layout)       lm_predictions.lm_head
//   ElectraGeneratorPredictions, ConvBertGeneratorPredictions  generator_predictions, generator_lm_head
//   RobertaLMHead                                              lm_head
//   ModernBertForMaskedLM                                      head, decoder
// If files have one of several layouts, every list of names has an entry for each.
struct MaskedLmHead {
  std::vector<std::string> dense;  // without .weight and .bias
  std::vector<std::string> norm;
  Activation activation = Activation::kNone;
  std::vector<std::string> decoder;  // full name of the matrix
  std::vector<std::string> bias;     // full names; empty if the decoder has no bias
  bool dense_bias = true;
  bool norm_bias = true;
};

// One logit per token, positive where the token was replaced: logits [tokens, 1].
//   ElectraDiscriminatorPredictions             classifier(activation(dense(hidden)))
//   mask_predictions of the DeBERTa v3 code     classifier(activation(dense(norm(hidden + hidden of the first token))))
struct DiscriminatorHead {
  std::string norm;  // empty means without norm and first token
  std::string dense;
  std::string classifier;
  Activation activation = Activation::kNone;
};

// Sizes that determine a head's.
struct HeadSizes {
  int32_t hidden = 0;
  int32_t embedding = 0;
  int32_t vocabulary = 0;
  float layer_norm_eps = 0;
};

void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const PooledHead& head);
void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const TokenHead& head);
void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const MaskedLmHead& head);
void BuildHead(Build& b, Value hidden, const HeadSizes& sizes, const DiscriminatorHead& head);

}  // namespace peruse
