#include "core/families/rms_layers.h"

#include <cmath>
#include <string>

#include "core/base/utf8.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

Value Norm(Build& b, const RmsLayers& layers, const std::string& name, Value x) {
  return b.RmsNorm(x, b.ConstantRow(name + ".weight", b.cols(x)), layers.eps, layers.norm_offset);
}

// Normalises each head by a weight that all heads share.
Value HeadNorm(Build& b, const RmsLayers& layers, const std::string& name, Value x) {
  return b.RmsNorm(x, b.ConstantRow(name + ".weight", layers.head_dim), layers.eps, layers.norm_offset);
}

Value SelfAttention(Build& b, const ModelConfig& config, const RmsLayers& layers, int32_t layer, Value angles,
                    Value x) {
  const std::string name = "layers." + std::to_string(layer) + ".self_attn.";
  const int32_t wide = config.num_attention_heads * layers.head_dim, narrow = layers.kv_heads * layers.head_dim;
  Stack projection = b.Stacked(config.hidden_size);
  int32_t first = 0;
  for (const auto& [part, width] : {std::pair{"q_proj", wide}, {"k_proj", narrow}, {"v_proj", narrow}}) {
    if (layers.rotates_pairs && part[0] != 'v') {
      projection.AddPairs(name + part, width / layers.head_dim, layers.head_dim);
      first += width;
      continue;
    }
    projection.AddWeight({name + part + ".weight"}, {width, config.hidden_size}, width);
    if (layers.attention_bias) projection.AddBias({name + part + ".bias"}, {width}, first);
    first += width;
  }
  const Value projected = b.Linear(x, projection);
  Value query, key;
  if (layers.head_norms) {
    query = b.Rotate(HeadNorm(b, layers, name + "q_norm", b.Columns(projected, 0, wide)), angles);
    key = b.Rotate(HeadNorm(b, layers, name + "k_norm", b.Columns(projected, wide, narrow)), angles);
  } else {
    const Value turned = b.Rotate(b.Columns(projected, 0, wide + narrow), angles);
    query = b.Columns(turned, 0, wide);
    key = b.Columns(turned, wide, narrow);
  }
  ops::Attention attention = {.query = query,
                              .key = key,
                              .value = b.Columns(projected, wide + narrow, narrow),
                              .heads = config.num_attention_heads,
                              .scale = layers.query_scale};
  const RmsLayers::Kind& kind = layers.is_sliding[static_cast<size_t>(layer)] ? layers.sliding : layers.full;
  attention.before = kind.before;
  attention.after = kind.after;
  if (layers.sinks) attention.sinks = b.ConstantRow(name + "sinks", config.num_attention_heads);
  const auto [context, probabilities] = b.Attention(attention);
  b.Output({OutputKind::kAttention, layer}, probabilities);
  const Stack output = LinearsOf(b, {name + "o_proj"}, wide, config.hidden_size, layers.attention_bias);
  return b.Linear(MaskHeads(b, layer, context), output);
}

Value GatedLayer(Build& b, const ModelConfig& config, const RmsLayers& layers, const std::string& name, Value x) {
  const int32_t hidden = config.hidden_size, wide = config.intermediate_size;
  const Stack gate_and_up = LinearsOf(b, {name + "gate_proj", name + "up_proj"}, hidden, 2 * wide, layers.mlp_bias);
  const auto [gate, up] = b.Split<2>(b.Linear(x, gate_and_up));
  const Value between = b.Multiply(b.Activate(gate, config.hidden_act), up);
  return b.Linear(between, LinearsOf(b, {name + "down_proj"}, wide, hidden, layers.mlp_bias).WithWideInput());
}

}  // namespace

void ReadRmsLayers(ConfigReader& reader, ModelConfig& config, const RmsDefaults& defaults, RmsLayers* layers) {
  const int32_t heads = config.num_attention_heads;
  const int32_t whole = config.hidden_size / heads;
  layers->head_dim = reader.Int("head_dim", defaults.head_dim > 0 ? defaults.head_dim : whole, 1, kMaxHidden);
  if (layers->head_dim % 2 != 0) {
    reader.Fail(MalformedFile("config.json: heads are " + std::to_string(layers->head_dim) +
                              " columns wide (head_dim); rotation needs an even number"));
  }
  const int32_t most = kMaxIntermediate / std::max(layers->head_dim, 1);
  if (heads > most) reader.Refuse("num_attention_heads", "must be at most " + std::to_string(most));
  layers->kv_heads =
      reader.Int("num_key_value_heads", defaults.kv_heads > 0 ? defaults.kv_heads : heads, 1, kMaxHidden);
  if (heads % layers->kv_heads != 0) {
    reader.Refuse("num_key_value_heads", "must divide num_attention_heads " + std::to_string(heads));
  }
  layers->query_scale = 1.0f / std::sqrt(static_cast<float>(layers->head_dim));
  layers->eps = config.layer_norm_eps = reader.Float("rms_norm_eps", defaults.eps, 0, 1);
  layers->attention_bias = reader.Bool("attention_bias", defaults.attention_bias);
  layers->mlp_bias = reader.Bool("mlp_bias", false);
  layers->is_sliding.assign(static_cast<size_t>(config.num_hidden_layers), false);
  config.type_vocab_size = 0;
  config.max_tokens = ModelConfig::kUnlimited;  // no position table: only the tokenizer's model_max_length limits texts
}

void ReadRopeOfAll(ConfigReader& reader, const ModelConfig& config, float theta, RmsLayers* layers) {
  layers->full.angles.theta = reader.Float("rope_theta", theta, 1, 1e12f);
  const RopeSizes sizes = {layers->head_dim, config.max_position_embeddings};
  // transformers 5 ignores rope_parameters if the older rope_scaling is set.
  for (const char* field : {"rope_scaling", "rope_parameters"}) {
    const JsonValue rope = reader.Field(field);
    if (!rope.exists()) continue;
    if (!rope.IsObject()) reader.Refuse(field, "must be an object");
    if (rope.IsObject()) ReadRope(reader, rope, sizes, &layers->full.angles);
    break;
  }
  layers->sliding.angles = layers->full.angles;
}

bool ReadLayerTypes(ConfigReader& reader, const ModelConfig& config, std::vector<bool>* is_sliding) {
  const JsonValue types = reader.Field("layer_types");
  if (!types.exists()) return false;
  if (!types.IsArray() || types.size() != static_cast<size_t>(config.num_hidden_layers)) {
    reader.Refuse("layer_types", "must be a list with a type for each layer");
    return true;
  }
  is_sliding->clear();
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string_view type = types[i].GetString().value_or("");
    is_sliding->push_back(type == "sliding_attention");
    if (type != "full_attention" && !is_sliding->back()) {
      reader.Fail(Unsupported("config.json: layer_types: \"" + Excerpt(type) +
                              "\" is not supported; use \"full_attention\" or \"sliding_attention\""));
    }
  }
  return true;
}

void ReadCausality(ConfigReader& reader, int32_t window, RmsLayers* layers) {
  const bool is_causal = reader.Bool("is_causal", true);
  layers->sliding.before = layers->sliding.after = window;
  if (!is_causal) return;
  layers->full.after = layers->sliding.after = 0;
  if (window != ops::Attention::kAllKeys) --layers->sliding.before;
}

Value RmsEncoder(Build& b, const ModelConfig& config, const RmsLayers& layers) {
  Value x = SumEmbeddings(
      b, config, {.words = RmsLayers::kWords, .positions = false, .types = false, .scale = layers.embedding_scale});
  b.Output({OutputKind::kHidden, 0}, x);
  const Value full = b.RotaryAngles(layers.full.angles, layers.head_dim);
  const Value sliding = b.RotaryAngles(layers.sliding.angles, layers.head_dim);
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    const std::string name = "layers." + std::to_string(i) + ".";
    const Value angles = layers.is_sliding[static_cast<size_t>(i)] ? sliding : full;
    Value added = SelfAttention(b, config, layers, i, angles, Norm(b, layers, name + "input_layernorm", x));
    if (layers.output_norms) added = Norm(b, layers, name + "post_attention_layernorm", added);
    x = b.Add(x, added);
    const char* before = layers.output_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm";
    const auto feed_forward = layers.feed_forward != nullptr ? layers.feed_forward : GatedLayer;
    added = feed_forward(b, config, layers, name + "mlp.", Norm(b, layers, name + before, x));
    if (layers.output_norms) added = Norm(b, layers, name + "post_feedforward_layernorm", added);
    x = b.Add(x, added);
    if (i + 1 == config.num_hidden_layers) x = Norm(b, layers, "norm", x);
    b.Output({OutputKind::kHidden, i + 1}, x);
  }
  return x;
}

std::string RmsLanguageHead(const ModelConfig& config) {
  return config.tie_word_embeddings ? RmsLayers::kWords : "lm_head.weight";
}

std::optional<int32_t> ReadPadding(ConfigReader& reader) {
  if (!reader.Field("pad_token_id").exists()) return std::nullopt;
  return reader.Int("pad_token_id", 0, -1, kMaxVocabulary);
}

PooledHead LastTokenClassifier(std::optional<int32_t> padding) {
  return {.pick = PooledHead::Pick::kLast,
          .classifier = "score",
          .classifier_bias = false,
          .drops = false,
          .padding = padding.value_or(PooledHead::kNoPadding)};
}

}  // namespace peruse
