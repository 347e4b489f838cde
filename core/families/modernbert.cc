// ModernBERT (Warner et al., 2024; ModernBertModel of transformers 4.48 to 5): pre-norm layers, rotary positions, gated feed-forward
// layers, and windowed attention in most layers.
#include "core/base/utf8.h"
#include "core/families/family.h"
#include "core/families/rotary.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

// Settings of an attention layer, which global and local layers have separately.
struct AttentionKind {
  ops::RotaryAngles angles;
  int32_t window = ops::Attention::kAllKeys;
};

class ModernBert : public Family {
 public:
  ConfigDefaults defaults() const override {
    return {.vocab_size = 50368,
            .hidden_size = 768,
            .num_hidden_layers = 22,
            .num_attention_heads = 12,
            .intermediate_size = 1152,
            .max_position_embeddings = 8192,
            .type_vocab_size = 0};
  }
  ConfigFields fields() const override { return {.hidden_act = "hidden_activation", .embedding_size = {}}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {"model."}; }
  Value Encode(Build& b, const ModelConfig& config) const override;

  PooledHead SequenceClassifier(const ModelConfig&) const override {
    return {.pick = mean_pooling_ ? PooledHead::Pick::kMean : PooledHead::Pick::kFirst, .transform = Prediction()};
  }
  TokenHead TokenClassifier(const ModelConfig& config) const override {
    return {"classifier", config.num_labels(), /*drops_rows=*/true, Prediction()};
  }
  TokenHead SpanClassifier(const ModelConfig&) const override {
    return {"classifier", 2, /*drops_rows=*/true, Prediction()};
  }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override {
    MaskedLmHead head;
    head.dense = {"head.dense"};
    head.norm = {"head.norm"};
    head.activation = classifier_activation_;
    head.decoder = {config.tie_word_embeddings ? kWords : "decoder.weight"};
    if (decoder_bias_) head.bias = {"decoder.bias"};
    head.dense_bias = classifier_bias_;
    head.norm_bias = norm_bias_;
    return head;
  }

 private:
  static constexpr const char* kWords = "embeddings.tok_embeddings.weight";

  void ReadLayerTypes(ConfigReader& reader, const ModelConfig& config);
  void ReadPositions(ConfigReader& reader, const ModelConfig& config);
  // ModernBertPredictionHead, which precedes the classifier in all heads except masked LM.
  RowTransform Prediction() const {
    return {"head.dense", classifier_activation_, "head.norm", classifier_bias_, norm_bias_};
  }
  NormArgs Norm(Build& b, const ModelConfig& config, const std::string& name) const {
    return b.Norm({name}, config.hidden_size, config.layer_norm_eps, norm_bias_);
  }
  Value SelfAttention(Build& b, const ModelConfig& config, int32_t layer, Value x, Value angles) const;
  Value FeedForwardOf(Build& b, const ModelConfig& config, const std::string& name, Value x) const;

  AttentionKind global_;
  AttentionKind local_;
  std::vector<bool> is_local_;  // for each layer: whether attention is local
  bool norm_bias_ = false;
  bool attention_bias_ = false;
  bool mlp_bias_ = false;
  bool decoder_bias_ = true;
  bool classifier_bias_ = false;
  bool mean_pooling_ = false;
  Activation classifier_activation_ = Activation::kGelu;
};

void ModernBert::Read(ConfigReader& reader, ModelConfig& config) {
  RequireRotaryHeads(reader, config);
  config.layer_norm_eps = reader.Float("norm_eps", 1e-5f, 0, 1);
  config.type_vocab_size = 0;
  config.max_tokens = ModelConfig::kUnlimited;  // no position table: only the tokenizer's model_max_length limits texts
  norm_bias_ = reader.Bool("norm_bias", false);
  attention_bias_ = reader.Bool("attention_bias", false);
  mlp_bias_ = reader.Bool("mlp_bias", false);
  decoder_bias_ = reader.Bool("decoder_bias", true);
  classifier_bias_ = reader.Bool("classifier_bias", false);
  classifier_activation_ = reader.ActivationOf("classifier_activation", Activation::kGelu);
  const std::string pooling = reader.String("classifier_pooling", "cls");
  mean_pooling_ = pooling == "mean";
  if (pooling != "cls" && !mean_pooling_) {
    reader.Fail(
        Unsupported("config.json: classifier_pooling \"" + pooling + "\" is not supported; use \"cls\" or \"mean\""));
  }
  ReadLayerTypes(reader, config);
  ReadPositions(reader, config);
}

// Reads layer_types of transformers 5, or global_attn_every_n_layers of transformers 4.
void ModernBert::ReadLayerTypes(ConfigReader& reader, const ModelConfig& config) {
  const int32_t period = reader.Int("global_attn_every_n_layers", 3, 1, kMaxLayers);
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) is_local_.push_back(i % period != 0);
  const JsonValue types = reader.Field("layer_types");
  if (!types.exists()) return;
  if (!types.IsArray() || types.size() != is_local_.size()) {
    reader.Refuse("layer_types", "must be a list with a type for each layer");
    return;
  }
  for (size_t i = 0; i < is_local_.size(); ++i) {
    const std::string_view type = types[i].GetString().value_or("");
    is_local_[i] = type == "sliding_attention";
    if (type != "full_attention" && !is_local_[i]) {
      reader.Fail(Unsupported("config.json: layer_types: \"" + Excerpt(type) +
                              "\" is not supported; use \"full_attention\" or \"sliding_attention\""));
    }
  }
}

void ModernBert::ReadPositions(ConfigReader& reader, const ModelConfig& config) {
  // In transformers 5, sliding_window in config.json sets local_attention to twice its value.
  const int32_t local = reader.Int("local_attention", 128, 0, kMaxPositions);
  local_.window = reader.Int("sliding_window", local / 2, 0, kMaxPositions);
  global_.angles.theta = reader.Float("global_rope_theta", 160000, 1, 1e12f);
  // Null means the global value in transformers 4; transformers 5 fails.
  const float fallback = reader.IsNull("local_rope_theta") ? global_.angles.theta : 10000;
  local_.angles.theta = reader.Float("local_rope_theta", fallback, 1, 1e12f);
  // transformers ignores a top-level rope_theta.
  const ConfigReader scaling(reader.Field("rope_scaling"));
  const JsonValue type = scaling.Field("rope_type").exists() ? scaling.Field("rope_type") : scaling.Field("type");
  if (reader.Field("rope_scaling").exists() &&
      (type.GetString() != "default" || scaling.Field("rope_theta").exists())) {
    reader.Fail(Unsupported(
        "config.json: rope_scaling is not supported in a ModernBERT; use global_rope_theta and local_rope_theta"));
  }
  const JsonValue parameters = reader.Field("rope_parameters");
  if (!parameters.exists()) return;
  const JsonValue global = parameters.FindMember("full_attention");
  const JsonValue local_parameters = parameters.FindMember("sliding_attention");
  if (!global.IsObject() && !local_parameters.IsObject()) {
    reader.Refuse("rope_parameters", "must have full_attention or sliding_attention");
    return;
  }
  const RopeSizes sizes = RopeSizesOf(config);
  if (global.IsObject()) ReadRope(reader, global, sizes, &global_.angles);
  if (local_parameters.IsObject()) ReadRope(reader, local_parameters, sizes, &local_.angles);
}

Value ModernBert::SelfAttention(Build& b, const ModelConfig& config, int32_t layer, Value x, Value angles) const {
  const int32_t hidden = config.hidden_size;
  const std::string name = "layers." + std::to_string(layer) + ".";
  // Layer 0 reads embeddings, which are already normalised.
  if (layer > 0) x = b.LayerNorm(x, Norm(b, config, name + "attn_norm"));
  const Value projected = b.Linear(x, LinearsOf(b, {name + "attn.Wqkv"}, hidden, 3 * hidden, attention_bias_));
  const int32_t window = (is_local_[static_cast<size_t>(layer)] ? local_ : global_).window;
  const Value context = RotaryAttention(b, config, layer, projected, angles, window);
  return b.Dropped(b.Linear(context, LinearsOf(b, {name + "attn.Wo"}, hidden, hidden, attention_bias_)));
}

// ModernBertMLP: the activation applies to the first half of the columns.
Value ModernBert::FeedForwardOf(Build& b, const ModelConfig& config, const std::string& name, Value x) const {
  const int32_t hidden = config.hidden_size, wide = config.intermediate_size;
  x = b.LayerNorm(x, Norm(b, config, name + "mlp_norm"));
  const auto [gate, up] = b.Split<2>(b.Linear(x, LinearsOf(b, {name + "mlp.Wi"}, hidden, 2 * wide, mlp_bias_)));
  const Value between = b.Dropped(b.Multiply(b.Activate(gate, config.hidden_act), up));
  return b.Linear(between, LinearsOf(b, {name + "mlp.Wo"}, wide, hidden, mlp_bias_).WithWideInput());
}

Value ModernBert::Encode(Build& b, const ModelConfig& config) const {
  const int32_t head_dim = config.hidden_size / config.num_attention_heads;
  const Value sum = SumEmbeddings(b, config, {.words = kWords, .positions = false, .types = false});
  Value x = b.Dropped(b.LayerNorm(sum, Norm(b, config, "embeddings.norm")));
  b.Output({OutputKind::kHidden, 0}, x);
  const Value global = b.RotaryAngles(global_.angles, head_dim);
  const Value local = b.RotaryAngles(local_.angles, head_dim);
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    x = b.Add(x, SelfAttention(b, config, i, x, is_local_[static_cast<size_t>(i)] ? local : global));
    x = b.Add(x, FeedForwardOf(b, config, "layers." + std::to_string(i) + ".", x));
    const bool is_last = i + 1 == config.num_hidden_layers;
    if (is_last) x = b.LayerNorm(x, Norm(b, config, "final_norm"));  // as in transformers 5
    b.Output({OutputKind::kHidden, i + 1}, x);
  }
  return x;
}

}  // namespace

std::unique_ptr<Family> CreateModernBert() { return std::make_unique<ModernBert>(); }

}  // namespace peruse
