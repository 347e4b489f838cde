// Encoder layers with RMS norms, gated feed-forward layers, and heads that share keys and values: those of EuroBERT, and of the language
// models Qwen3 and Gemma 3 that were trained to embed texts. They all have the tensor names of Llama.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/families/config.h"
#include "core/families/config_reader.h"
#include "core/families/rotary.h"
#include "core/heads/heads.h"
#include "core/program/build.h"

namespace peruse {

struct RmsLayers {
  static constexpr const char* kWords = "embed_tokens.weight";

  // What differs between the layers of a model.
  struct Kind {
    ops::RotaryAngles angles;
    // Query i attends to the keys i - before .. i + after.
    int32_t before = ops::Attention::kAllKeys;
    int32_t after = ops::Attention::kAllKeys;
  };
  Kind full;
  Kind sliding;
  std::vector<bool> is_sliding;  // for each layer

  int32_t head_dim = 0;
  int32_t kv_heads = 0;
  float query_scale = 0;  // of the attention scores
  float eps = 0;
  float norm_offset = 0;      // added to the weights of all norms
  float embedding_scale = 1;  // multiplies the token embeddings
  bool head_norms = false;    // whether each head of queries and keys is normalised
  bool output_norms =
      false;  // whether the outputs of attention and of feed-forward layers are normalised before they are added
  bool attention_bias = false;
  bool mlp_bias = false;
  // Whether queries and keys are stored for a rotation of neighbouring columns; they have biases then.
  bool rotates_pairs = false;
  bool sinks = false;  // whether each head has an attention sink
  // Builds what takes the place of the gated feed-forward layers; null if they are usual ones.
  Value (*feed_forward)(Build& b, const ModelConfig& config, const RmsLayers& layers, const std::string& name,
                        Value x) = nullptr;
  int32_t experts = 0;  // of feed_forward
  int32_t chosen = 0;   // experts of a token
};

// Reads num_key_value_heads, head_dim, rms_norm_eps, attention_bias, mlp_bias. An absent head_dim is `head_dim`, or 0 for hidden_size /
// num_attention_heads; absent key heads are `kv_heads`, or 0 for num_attention_heads.
struct RmsDefaults {
  int32_t head_dim = 0;
  int32_t kv_heads = 0;
  float eps = 1e-6f;
  bool attention_bias = false;
};
void ReadRmsLayers(ConfigReader& reader, ModelConfig& config, const RmsDefaults& defaults, RmsLayers* layers);

// Reads rope_theta with rope_scaling or rope_parameters, of models that rotate alike in all layers.
void ReadRopeOfAll(ConfigReader& reader, const ModelConfig& config, float theta, RmsLayers* layers);

// Reads layer_types, a list of "full_attention" and "sliding_attention". Returns whether the field exists.
bool ReadLayerTypes(ConfigReader& reader, const ModelConfig& config, std::vector<bool>* is_sliding);

// Reads is_causal, which makes an encoder of a causal language model if it is false (transformers 5). `window` is the number of keys that a
// causal sliding layer sees, and otherwise the largest distance of a key, on both sides.
void ReadCausality(ConfigReader& reader, int32_t window, RmsLayers* layers);

// Embeddings and layers. Returns the last hidden state, and declares the layers' outputs.
Value RmsEncoder(Build& b, const ModelConfig& config, const RmsLayers& layers);

// transformers' GenericForSequenceClassification: a linear layer without a bias on the last token that is not padding.
PooledHead LastTokenClassifier(std::optional<int32_t> padding);
// Name of the decoder of a language model: the token embeddings if they are tied to it.
std::string RmsLanguageHead(const ModelConfig& config);
// Reads pad_token_id. Errors: kMalformedFile.
std::optional<int32_t> ReadPadding(ConfigReader& reader);

}  // namespace peruse
