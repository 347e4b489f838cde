// The text model of Gemma 3 (Gemma3TextModel of transformers), which EmbeddingGemma (2025) made an encoder that sees a text from both sides.
#include <cmath>

#include "core/families/family.h"
#include "core/families/rms_layers.h"

namespace peruse {
namespace {

class Gemma3Text : public Family {
 public:
  ConfigDefaults defaults() const override {
    return {.vocab_size = 262208,
            .hidden_size = 2304,
            .num_hidden_layers = 26,
            .num_attention_heads = 8,
            .intermediate_size = 9216,
            .max_position_embeddings = 131072};
  }
  ConfigFields fields() const override { return {.hidden_act = "hidden_activation", .embedding_size = {}}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  bool IsLanguageModel() const override { return true; }
  std::vector<std::string> prefixes() const override { return {"model."}; }
  Value Encode(Build& b, const ModelConfig& config) const override { return RmsEncoder(b, config, layers_); }

  PooledHead SequenceClassifier(const ModelConfig&) const override { return LastTokenClassifier(padding_); }
  MaskedLmHead MaskedLm(const ModelConfig&) const override { return {}; }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig&) const override {
    return std::optional<PooledHead>();
  }

 private:
  void ReadWindows(ConfigReader& reader, const ModelConfig& config);
  void ReadPositions(ConfigReader& reader, const ModelConfig& config);

  RmsLayers layers_;
  std::optional<int32_t> padding_;
};

void Gemma3Text::Read(ConfigReader& reader, ModelConfig& config) {
  RequireWholeHeads(reader, config);
  config.hidden_act = reader.ActivationOf("hidden_activation", Activation::kGeluTanh);
  ReadRmsLayers(reader, config, {.head_dim = 256, .kv_heads = 4}, &layers_);
  layers_.query_scale = 1.0f / std::sqrt(reader.Float("query_pre_attn_scalar", 256, 1e-3f, 1e6f));
  layers_.norm_offset = 1;
  layers_.embedding_scale = std::sqrt(static_cast<float>(config.hidden_size));
  layers_.head_norms = layers_.output_norms = true;
  padding_ = reader.Field("pad_token_id").exists() ? ReadPadding(reader) : 0;
  if (reader.Field("attn_logit_softcapping").exists()) {
    reader.Fail(Unsupported("config.json: attn_logit_softcapping is not supported; transformers ignores it"));
  }
  ReadWindows(reader, config);
  ReadPositions(reader, config);
}

void Gemma3Text::ReadWindows(ConfigReader& reader, const ModelConfig& config) {
  const bool both_sides = reader.Bool("use_bidirectional_attention", false);
  const int32_t window = reader.Int("sliding_window", 4096, 0, kMaxPositions);
  if (both_sides) {
    if (reader.IsNull("sliding_window")) reader.Refuse("sliding_window", "must be a number of tokens");
    // transformers counts the token itself twice if both fields say so.
    layers_.sliding.before = layers_.sliding.after = window / 2 + (reader.Bool("is_causal", true) ? 0 : 1);
  } else {
    if (window < 1) reader.Refuse("sliding_window", "must be at least 1");
    ReadCausality(reader, reader.IsNull("sliding_window") ? ops::Attention::kAllKeys : window, &layers_);
  }
  const int32_t period = reader.Int("sliding_window_pattern", 6, 1, kMaxLayers);
  if (ReadLayerTypes(reader, config, &layers_.is_sliding)) return;
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    layers_.is_sliding[static_cast<size_t>(i)] = (i + 1) % period != 0;
  }
}

// Full and sliding layers have frequencies of their own. Scaling of transformers 4 is that of full layers.
void Gemma3Text::ReadPositions(ConfigReader& reader, const ModelConfig& config) {
  const RopeSizes sizes = {layers_.head_dim, config.max_position_embeddings};
  layers_.full.angles.theta = reader.Float("rope_theta", 1e6f, 1, 1e12f);
  layers_.sliding.angles.theta = reader.Float("rope_local_base_freq", 10000, 1, 1e12f);
  const JsonValue rope = reader.Field("rope_parameters");
  if (rope.exists() && !rope.IsObject()) reader.Refuse("rope_parameters", "must be an object");
  for (const auto& [type, kind] :
       {std::pair{"full_attention", &layers_.full}, {"sliding_attention", &layers_.sliding}}) {
    const JsonValue own = rope.FindMember(type);
    if (own.IsObject()) ReadRope(reader, own, sizes, &kind->angles);
  }
  const JsonValue scaling = reader.Field("rope_scaling");
  if (scaling.IsObject()) ReadRope(reader, scaling, sizes, &layers_.full.angles);
}

}  // namespace

std::unique_ptr<Family> CreateGemma3Text() { return std::make_unique<Gemma3Text>(); }

}  // namespace peruse
