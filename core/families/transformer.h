#pragma once

#include <optional>
#include <string>

#include "core/families/config.h"
#include "core/families/config_reader.h"
#include "core/heads/heads.h"
#include "core/program/build.h"
#include "core/program/token_indices.h"

namespace peruse {

enum class PositionType : uint8_t { kAbsolute, kRelativeKey, kRelativeKeyQuery };
PositionType ReadPositionType(ConfigReader& reader);

// The pooling of multiple-choice heads: transformers' SequenceSummary, with the fields summary_type and so on.
struct SummaryConfig {
  PooledHead::Pick type = PooledHead::Pick::kLast;
  bool use_proj = false;
  bool proj_to_labels = false;
  Activation activation = Activation::kNone;
};
SummaryConfig ReadSummary(ConfigReader& reader, std::string_view type, bool use_proj, Activation activation);
Result<std::optional<PooledHead>> SummaryHead(const SummaryConfig& summary, const ModelConfig& config);

// Names of the bias of a masked-LM head. A tied head's bias has two names, of which some files only have the decoder's. An untied head from
// transformers 5 has two biases, and only the decoder's is used.
std::vector<std::string> BiasNames(const ModelConfig& config, const char* head, const char* decoder);

// transformers' BertPooler, which precedes the classifier. `dense` is the name of its linear layer.
inline PooledHead TanhPooler(const char* dense = "pooler.dense") {
  return {.transform = {.dense = dense, .activation = Activation::kTanh}};
}
// transformers' RobertaClassificationHead and MPNetClassificationHead.
PooledHead RobertaClassifier();
// transformers: RobertaLMHead, MPNetLMHead. Always uses exact gelu, regardless of hidden_act.
MaskedLmHead RobertaPredictions(const ModelConfig& config);

// transformers: generator_predictions and generator_lm_head of ELECTRA and ConvBERT.
MaskedLmHead GeneratorHead(const ModelConfig& config);

// transformers: cls.predictions of BertLMPredictionHead and LegacyDebertaLMPredictionHead.
MaskedLmHead BertPredictions(const ModelConfig& config);

// Tables whose rows are added to token embeddings. Absent tables are invalid.
struct EmbeddingOptions {
  const char* words = "embeddings.word_embeddings.weight";
  bool positions = true;
  Index position_index = indices::Positions{};
  bool types = true;
  float scale = 1;  // multiplies the sum
};
// Returns the sum of token, position and segment embeddings, [tokens, embedding_size].
Value SumEmbeddings(Build& b, const ModelConfig& config, const EmbeddingOptions& options);
// Returns norm(sum), projected to hidden_size if the sizes differ (BertEmbeddings; ElectraModel.embeddings_project).
Value BertEmbeddings(Build& b, const ModelConfig& config, const EmbeddingOptions& options);

// Terms of attention scores that depend on the distance of two tokens.
struct RelativePositions {
  PositionType type = PositionType::kAbsolute;
  Value bias;     // [slots, heads], shared by all layers; may be invalid
  IndexId slots;  // maps distances to rows of `bias`
};

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
  // In training, apply dropout to the outputs of attention and of the feed-forward layers.
  bool drops_attention = true;
  bool drops_feed_forward = true;
};
// Returns BERT's names, such as "encoder.layer.3.attention.self.query".
LayerNames BertLayer(int32_t layer);

struct FeedForwardWeights {
  LinearId intermediate;
  LinearId output;
  NormArgs norm;
};
struct AttentionWeights {
  LinearId projection;  // hidden -> queries, keys and values
  // Optional norms over all heads of a token's queries, and of its keys (Jina's variant).
  std::optional<NormArgs> query_norm;
  std::optional<NormArgs> key_norm;
  LinearId output;
  NormArgs norm;
  bool drops = true;
};
AttentionWeights DeclareAttention(Build& b, const ModelConfig& config, const LayerNames& names);
struct LayerWeights {
  AttentionWeights attention;
  FeedForwardWeights feed_forward;
  bool drops_feed_forward = true;
};
LayerWeights DeclareLayer(Build& b, const ModelConfig& config, const LayerNames& names);

// norm(output(activation(intermediate(x))) + x). Both linear layers have `groups` groups (ConvBERT's num_groups).
Value FeedForward(Build& b, const ModelConfig& config, const FeedForwardNames& names, Value x, int32_t groups = 1);

// Multiplies the heads' results by the caller's head_mask, if given. transformers multiplies the probabilities, which is equivalent.
inline Value MaskHeads(Build& b, int32_t layer, Value context) {
  return b.Multiply(context, b.InputLike(context, kFirstMask + layer));
}

// Returns norm(dense(context) + x), like BertSelfOutput.
Value AttentionOutput(Build& b, const ModelConfig& config, const std::string& dense, const std::string& norm,
                      Value context, Value x);

// Self-attention of a layer (transformers' BertSelfAttention and BertSelfOutput). Names its probabilities as an output.
Value SelfAttention(Build& b, const ModelConfig& config, const AttentionWeights& weights,
                    const RelativePositions& positions, int32_t layer, Value x);

// A whole layer (transformers' BertLayer). Names its results as outputs.
Value EncoderLayer(Build& b, const ModelConfig& config, const LayerWeights& weights, const RelativePositions& positions,
                   int32_t layer, Value x);

Value BertEncoder(Build& b, const ModelConfig& config, const RelativePositions& positions, Value embeddings,
                  LayerNames (*names)(int32_t layer) = BertLayer);

inline std::string LayerName(int32_t layer) { return "encoder.layer." + std::to_string(layer) + "."; }
}  // namespace peruse
