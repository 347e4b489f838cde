// Shared by BERT-like families: embeddings, self-attention and the feed-forward half of a layer.
#pragma once

#include <string>

#include "core/families/config.h"
#include "core/families/config_reader.h"
#include "core/heads/heads.h"
#include "core/program/build.h"

namespace peruse {

// Position encoding of tokens (position_embedding_type).
enum class PositionType : uint8_t { kAbsolute, kRelativeKey, kRelativeKeyQuery };
PositionType ReadPositionType(ConfigReader& reader);

// transformers' SequenceSummary, the pooling of multiple-choice heads (summary_type and related fields).
struct SummaryConfig {
  PooledHead::Pick type = PooledHead::Pick::kLast;
  bool use_proj = false;
  bool proj_to_labels = false;
  Activation activation = Activation::kNone;
};
SummaryConfig ReadSummary(ConfigReader& reader, std::string_view type, bool use_proj, Activation activation);
Result<std::optional<PooledHead>> SummaryHead(const SummaryConfig& summary, const ModelConfig& config);

// Names a masked LM's bias. A tied head's bias has two names, of which some files only have the decoder's. An untied head from
// transformers 5 has two biases, of which the decoder's counts.
std::vector<std::string> BiasNames(const ModelConfig& config, const char* head, const char* decoder);

// RobertaClassificationHead, MPNetClassificationHead.
PooledHead RobertaClassifier();
// RobertaLMHead, MPNetLMHead: exact gelu, regardless of hidden_act.
MaskedLmHead RobertaPredictions(const ModelConfig& config);

// generator_predictions and generator_lm_head, as in ELECTRA and ConvBERT.
MaskedLmHead GeneratorHead(const ModelConfig& config);

// cls.predictions: BertLMPredictionHead, LegacyDebertaLMPredictionHead.
MaskedLmHead BertPredictions(const ModelConfig& config);

// Tables whose rows are added to token embeddings; invalid if absent.
struct EmbeddingOptions {
  const char* words = "embeddings.word_embeddings.weight";
  bool positions = true;
  Index position_index = {.kind = Index::Kind::kPositions};
  bool types = true;
};
// Sum of token, position and segment embeddings: [tokens, embedding_size].
Value SumEmbeddings(Build& b, const ModelConfig& config, const EmbeddingOptions& options);
// norm(sum), then a projection to hidden_size if the sizes differ (BertEmbeddings; ElectraModel.embeddings_project).
Value BertEmbeddings(Build& b, const ModelConfig& config, const EmbeddingOptions& options);

// Score terms that depend on the distance of two tokens.
struct RelativePositions {
  PositionType type = PositionType::kAbsolute;
  Value bias;     // [slots, heads], the same in every layer; may be invalid
  IndexId slots;  // of the bias
};

// A checkpoint's names of a layer's linear layers and norms.
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
  // In training, apply dropout to the outputs of attention and of the feed-forward half.
  bool drops_attention = true;
  bool drops_feed_forward = true;
};
// BERT's names: "encoder.layer.3.attention.self.query" and so on.
LayerNames BertLayer(int32_t layer);

// The parameters of a layer. Layers that share them (ALBERT) are given the same ones.
struct FeedForwardWeights {
  LinearId intermediate;
  LinearId output;
  NormArgs norm;
};
struct LayerWeights {
  LinearId projection;  // hidden -> queries, keys and values
  LinearId attention_output;
  NormArgs attention_norm;
  FeedForwardWeights feed_forward;
  bool drops_attention = true;
  bool drops_feed_forward = true;
};
LayerWeights DeclareLayer(Build& b, const ModelConfig& config, const LayerNames& names);

// norm(output(activation(intermediate(x))) + x). `groups` is that of both layers (ConvBERT's num_groups).
Value FeedForward(Build& b, const ModelConfig& config, const FeedForwardNames& names, Value x, int32_t groups = 1);

// Multiplies the heads' results by the caller's head_mask, if any. transformers multiplies the probabilities, which is equivalent.
inline Value MaskHeads(Build& b, int32_t layer, Value context) {
  return b.Multiply(context, b.InputLike(context, kFirstMask + layer));
}

// norm(dense(context) + x): BertSelfOutput.
Value AttentionOutput(Build& b, const ModelConfig& config, const std::string& dense, const std::string& norm,
                      Value context, Value x);

// BertLayer, its outputs named.
Value EncoderLayer(Build& b, const ModelConfig& config, const LayerWeights& weights, const RelativePositions& positions,
                   int32_t layer, Value x);

// BertEncoder on the embeddings, with all outputs named.
Value BertEncoder(Build& b, const ModelConfig& config, const RelativePositions& positions, Value embeddings,
                  LayerNames (*names)(int32_t layer) = BertLayer);

inline std::string LayerName(int32_t layer) { return "encoder.layer." + std::to_string(layer) + "."; }
}  // namespace peruse
