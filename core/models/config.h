// What config.json says about a model: typed, defaulted and checked. Field names and defaults are those of
// transformers' configuration classes (ConvBertConfig, DebertaConfig, DebertaV2Config, BertConfig, ElectraConfig);
// lightconv and dynamicconv, which transformers does not have, follow ConvBertConfig (see lightconv.h).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/activation.h"
#include "core/base/status.h"

namespace peruse {

enum class Architecture : uint8_t { kBert, kElectra, kConvBert, kDeberta, kDebertaV2, kLightConv, kDynamicConv };

// What stands on top of the encoder.
enum class Head : uint8_t {
  kNone,
  kSequenceClassification,
  kTokenClassification,
  kQuestionAnswering,
  kMaskedLm,
  kMultipleChoice,
  kReplacedTokenDetection,
};

// "sequence classification", for messages.
std::string_view HeadName(Head head);

enum class ProblemType : uint8_t { kUnspecified, kRegression, kSingleLabel, kMultiLabel };

// How BERT and ELECTRA know where a token stands.
enum class PositionType : uint8_t { kAbsolute, kRelativeKey, kRelativeKeyQuery };

// Fields that only ConvBERT has.
struct ConvBertConfig {
  int32_t conv_kernel_size = 9;  // odd
  int32_t num_groups = 1;        // of the feed-forward linears
  int32_t heads = 0;             // attention heads actually built: num_attention_heads / head_ratio
  int32_t head_dim = 0;          // heads * head_dim == hidden_size / 2
};

// Fields that only the encoders of Wu et al. have.
struct LightConvConfig {
  std::vector<int32_t> conv_kernel_sizes;  // [num_hidden_layers], odd
};

// Fields that only DeBERTa has.
struct DebertaConfig {
  bool relative_attention = false;
  bool content_to_position = false;      // "c2p" in pos_att_type
  bool position_to_content = false;      // "p2c" in pos_att_type
  int32_t pos_att_types = 0;             // items of pos_att_type, known or not (v1 counts them in its scale)
  int32_t max_relative_positions = 512;  // resolved: never below 1
  bool position_biased_input = true;
  int32_t head_dim = 0;
  int32_t pooler_hidden_size = 0;
  Activation pooler_hidden_act = Activation::kGelu;
  bool legacy = true;  // which masked-LM layout

  // v2 and v3 only
  int32_t position_buckets = -1;  // < 1: exact distances
  bool norm_rel_ebd = false;
  bool share_att_key = false;
  int32_t conv_kernel_size = 0;  // 0: no convolution layer
  int32_t conv_groups = 1;
  Activation conv_act = Activation::kTanh;
};

// transformers' SequenceSummary, used by the multiple-choice heads of ELECTRA and ConvBERT.
struct SummaryConfig {
  enum class Type : uint8_t { kFirst, kLast, kMean };
  Type type = Type::kLast;
  bool use_proj = false;
  bool proj_to_labels = false;
  Activation activation = Activation::kNone;
};

struct ModelConfig {
  static constexpr int32_t kUnlimited = std::numeric_limits<int32_t>::max();

  Architecture architecture = Architecture::kBert;
  std::string model_type;          // as written
  bool int8_weights = false;       // a q8 checkpoint: quantization_config says so (docs/precision.md)
  std::string architecture_class;  // architectures[0], such as "ConvBertForSequenceClassification"; may be empty

  int32_t vocab_size = 0;
  int32_t hidden_size = 0;
  int32_t embedding_size = 0;
  int32_t num_hidden_layers = 0;
  int32_t num_attention_heads = 0;
  int32_t intermediate_size = 0;
  Activation hidden_act = Activation::kGelu;
  int32_t max_position_embeddings = 0;
  int32_t type_vocab_size = 0;
  float layer_norm_eps = 0;
  bool tie_word_embeddings = true;

  // Tokens that one text may have, special tokens included. kUnlimited where no table of positions bounds it.
  int32_t max_tokens = 0;

  std::vector<std::string> id2label;  // [num_labels]; "LABEL_0", ... where the file names none
  ProblemType problem_type = ProblemType::kUnspecified;
  std::string ranking_activation;  // a cross-encoder's, as sentence-transformers writes it; empty: none is named

  PositionType position_type = PositionType::kAbsolute;  // model_type bert, electra
  ConvBertConfig convbert;                               // model_type convbert
  LightConvConfig lightconv;                             // model_type lightconv, dynamicconv
  DebertaConfig deberta;                                 // model_type deberta, deberta-v2
  SummaryConfig summary;

  int32_t num_labels() const { return static_cast<int32_t>(id2label.size()); }
  bool is_light_conv() const {
    return architecture == Architecture::kLightConv || architecture == Architecture::kDynamicConv;
  }
  bool is_deberta() const { return architecture == Architecture::kDeberta || architecture == Architecture::kDebertaV2; }
};

// Reads config.json. Errors: kMalformedFile (bad JSON, a field of the wrong type or out of range), kUnsupported
// (an architecture or option that Peruse lacks, by name).
Result<ModelConfig> ParseModelConfig(std::string_view json);

}  // namespace peruse
