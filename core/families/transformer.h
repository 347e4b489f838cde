// What BERT and its kin share: embeddings, self-attention and the feed-forward half of a layer.
#pragma once

#include <string>

#include "core/families/config.h"
#include "core/families/config_reader.h"
#include "core/heads/heads.h"
#include "core/program/build.h"

namespace peruse {

// How tokens know where they stand (position_embedding_type).
enum class PositionType : uint8_t { kAbsolute, kRelativeKey, kRelativeKeyQuery };
PositionType ReadPositionType(ConfigReader& reader);

// transformers' SequenceSummary, the pooling of multiple-choice heads (summary_type and its kin).
struct SummaryConfig {
  PooledHead::Pick type = PooledHead::Pick::kLast;
  bool use_proj = false;
  bool proj_to_labels = false;
  Activation activation = Activation::kNone;
};
SummaryConfig ReadSummary(ConfigReader& reader, std::string_view type, bool use_proj, Activation activation);
Result<std::optional<PooledHead>> SummaryHead(const SummaryConfig& summary, const ModelConfig& config);

// RobertaClassificationHead, MPNetClassificationHead.
PooledHead RobertaClassifier();
// RobertaLMHead, MPNetLMHead: exact gelu, whatever hidden_act says.
MaskedLmHead RobertaPredictions(const ModelConfig& config);

// generator_predictions and generator_lm_head, as in ELECTRA and ConvBERT.
MaskedLmHead GeneratorHead(const ModelConfig& config);

// cls.predictions: BertLMPredictionHead, LegacyDebertaLMPredictionHead.
MaskedLmHead BertPredictions(const ModelConfig& config);

// Tables whose rows are added to those of the words; not valid: no such table.
struct EmbeddingOptions {
  const char* words = "embeddings.word_embeddings.weight";
  bool positions = true;
  Index position_index = {.kind = Index::Kind::kPositions};
  bool types = true;
};
// Word, position and segment rows added up: [tokens, embedding_size].
Value SumEmbeddings(Build& b, const ModelConfig& config, const EmbeddingOptions& options);
// norm(sum), then a projection to hidden_size where the sizes differ (BertEmbeddings; ElectraModel.embeddings_project).
Value BertEmbeddings(Build& b, const ModelConfig& config, const EmbeddingOptions& options);

// What attention adds to its scores for the distance of two tokens.
struct RelativePositions {
  PositionType type = PositionType::kAbsolute;
  Value bias;     // [slots, heads], the same in every layer; not valid: none
  IndexId slots;  // of the bias
};

// How checkpoints call the linears and norms of a layer.
struct FeedForwardNames {
  std::string intermediate;
  std::string output;
  std::string norm;
};
struct LayerNames {
  std::string query;
  std::string key;
  std::string value;
  std::string attention_output;
  std::string attention_norm;
  FeedForwardNames feed_forward;
  bool drops_attention = true;  // in training, dropout of what attention adds
};
// BERT's: "encoder.layer.3.attention.self.query" and so on.
LayerNames BertLayer(int32_t layer);

// norm(output(activation(intermediate(x))) + x); groups: of both linears (ConvBERT's num_groups).
Value FeedForward(Build& b, const ModelConfig& config, const FeedForwardNames& names, Value x, int32_t groups = 1);

// What the heads of a layer give, each multiplied by what the caller brings for it (Model: head_mask): transformers' head_mask multiplies
// the probabilities, which is the same.
inline Value MaskHeads(Build& b, int32_t layer, Value context) {
  return b.Multiply(context, b.InputLike(context, kFirstMask + layer));
}

// norm(dense(context) + x): BertSelfOutput. drops: in training, dropout of what the linear gives.
Value AttentionOutput(Build& b, const ModelConfig& config, const std::string& dense, const std::string& norm,
                      Value context, Value x, bool drops = true);

// BertEncoder on the embeddings, all of its outputs named.
Value BertEncoder(Build& b, const ModelConfig& config, const RelativePositions& positions, Value embeddings,
                  LayerNames (*names)(int32_t layer) = BertLayer);

// "encoder.layer.3."
inline std::string LayerName(int32_t layer) { return "encoder.layer." + std::to_string(layer) + "."; }
}  // namespace peruse
