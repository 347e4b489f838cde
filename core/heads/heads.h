// What stands on an encoder. Each head adds its operations to a program and names its outputs.
//
// A family says how its checkpoints name the tensors of a head; nothing here knows a family.
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

// norm(activation(dense(x))) of some rows, before a classifier reads them. A layer without a name is left out.
struct RowTransform {
  std::string dense;  // hidden -> hidden
  Activation activation = Activation::kNone;
  std::string norm;
  bool dense_bias = true;
  bool norm_bias = true;
};

// One row for each text, then up to two linears: logits [sequences, labels].
//   ConvBertClassificationHead, ElectraClassificationHead, RobertaClassificationHead   classifier.dense, classifier.out_proj
//   BertPooler, ContextPooler                                                          pooler.dense, classifier
//   *SequenceSummary                                                                   sequence_summary.summary, classifier
//   ModernBertPredictionHead                                                           head.dense, head.norm, classifier
struct PooledHead {
  // What stands for the text: its first row, its last, or the mean of all.
  enum class Pick : uint8_t { kFirst, kLast, kMean };
  Pick pick = Pick::kFirst;
  RowTransform transform;  // of the picked row
  std::string classifier = "classifier";
  int32_t labels = 0;
  bool normalized = false;  // the picked row is divided by its length
  bool drops_row = false;   // in training, dropout of the picked row too, not only of what the classifier reads
};

// One linear on every token. *ForTokenClassification: logits [tokens, labels]; *ForQuestionAnswering: logits [tokens, 2],
// the start's and the end's.
struct TokenHead {
  std::string classifier;
  int32_t labels = 0;
  bool drops_rows = false;  // in training, dropout of what the classifier reads
  RowTransform transform;   // of every row, before that dropout
};

// logits = norm(activation(dense(hidden))) decoder^T + bias for the chosen tokens: [chosen, vocabulary]
//   BertLMPredictionHead, LegacyDebertaLMPredictionHead        cls.predictions
//   DebertaLMPredictionHead (the original code's layout)       lm_predictions.lm_head
//   ElectraGeneratorPredictions, ConvBertGeneratorPredictions  generator_predictions, generator_lm_head
//   RobertaLMHead                                              lm_head
//   ModernBertForMaskedLM                                      head, decoder
// Where files have one of several layouts, every list of names has one for each.
struct MaskedLmHead {
  std::vector<std::string> dense;  // without .weight and .bias
  std::vector<std::string> norm;
  Activation activation = Activation::kNone;
  std::vector<std::string> decoder;  // the matrix, named in full
  std::vector<std::string> bias;     // named in full; empty means that the decoder has no bias
  bool dense_bias = true;
  bool norm_bias = true;
};

// One logit for every token, positive where the token was replaced: logits [tokens, 1].
//   ElectraDiscriminatorPredictions             classifier(activation(dense(hidden)))
//   mask_predictions of the DeBERTa v3 code     classifier(activation(dense(norm(hidden + hidden of the first token))))
struct DiscriminatorHead {
  std::string norm;  // empty: without norm and first token
  std::string dense;
  std::string classifier;
  Activation activation = Activation::kNone;
};

// What the sizes of a head come from.
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
