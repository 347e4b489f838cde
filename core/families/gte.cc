// GTE (Zhang et al., 2024; also Snowflake's arctic-embed v2.0): BERT with rotary positions and gated feed-forward layers. Code: GteModel of
// transformers 5, and NewModel of Alibaba-NLP/new-impl (model_type "new").

#include "core/base/elementary.h"
#include "core/base/utf8.h"
#include "core/families/family.h"
#include "core/families/rotary.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

constexpr const char* kWords = "embeddings.word_embeddings.weight";

class Gte : public Family {
 public:
  // `is_new`: the defaults are NewConfig's instead of GteConfig's.
  explicit Gte(bool is_new) : is_new_(is_new) {}

  ConfigDefaults defaults() const override {
    return {.vocab_size = is_new_ ? 30528 : 250048, .max_position_embeddings = 8192, .type_vocab_size = 1};
  }
  ConfigFields fields() const override { return {.embedding_size = {}}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {"new.", "gte."}; }
  Value Encode(Build& b, const ModelConfig& config) const override;

  PooledHead SequenceClassifier(const ModelConfig&) const override { return TanhPooler(); }
  bool PoolerIsOfEncoder() const override { return true; }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override {
    MaskedLmHead head;
    head.dense = {"lm_head.dense"};
    head.norm = {"lm_head.norm"};
    head.activation = is_new_ ? config.hidden_act : Activation::kGelu;
    head.decoder = {config.tie_word_embeddings ? kWords : "lm_head.decoder.weight"};
    head.bias = {"lm_head.decoder.bias"};
    return head;
  }

 private:
  void ReadPositions(ConfigReader& reader, const ModelConfig& config);

  const bool is_new_;
  ops::RotaryAngles angles_;
  bool packs_projection_ = true;
};

void Gte::Read(ConfigReader& reader, ModelConfig& config) {
  RequireRotaryHeads(reader, config);
  config.max_tokens = ModelConfig::kUnlimited;  // no position table: only the tokenizer's model_max_length limits texts
  packs_projection_ = reader.Bool("pack_qkv", true);
  for (const auto& [field, only] : {std::pair{"position_embedding_type", "rope"}, {"layer_norm_type", "layer_norm"}}) {
    const std::string value = reader.String(field, only);
    if (value == only) continue;
    reader.Fail(Unsupported("config.json: " + std::string(field) + " \"" + Excerpt(value) +
                            "\" is not supported in a GTE; only \"" + only + "\" is"));
  }
  if (reader.Bool("logn_attention_scale", false)) {
    reader.Fail(Unsupported("config.json: logn_attention_scale true is not supported"));
  }
  ReadPositions(reader, config);
}

void Gte::ReadPositions(ConfigReader& reader, const ModelConfig& config) {
  angles_.theta = reader.Float("rope_theta", is_new_ ? 10000 : 160000, 1, 1e12f);
  const JsonValue scaling = reader.Field("rope_scaling");
  if (scaling.exists()) {
    ConfigReader own(scaling);
    if (own.String("type", own.String("rope_type", "")) != "ntk") {
      ReadRope(reader, scaling, RopeSizesOf(config), &angles_);
    } else if (own.Field("mixed_b").exists()) {
      reader.Fail(Unsupported("config.json: rope_scaling with mixed_b is not supported"));
    } else {
      // NTKScalingRotaryEmbedding, for texts of every length: f_j = (theta factor)^(-2 j / head_dim) / factor^(2 / head_dim).
      const double factor = own.Float("factor", 1, 1, 1e6f);
      const double head_dim = static_cast<double>(config.hidden_size) / config.num_attention_heads;
      angles_.theta = static_cast<float>(angles_.theta * factor);
      angles_.scaling.kind = ops::RotaryScaling::Kind::kLinear;
      angles_.scaling.factor = static_cast<float>(Power(factor, 2 / head_dim));
    }
    reader.Fail(own.status());
  }
  if (const JsonValue rope = reader.Field("rope_parameters"); rope.exists())
    ReadRope(reader, rope, RopeSizesOf(config), &angles_);
}

Value Gte::Encode(Build& b, const ModelConfig& config) const {
  const Value x = BertEmbeddings(b, config, {.positions = false});
  std::vector<PostNormLayer> layers;
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    const std::string name = LayerName(i);
    const std::string attention = name + "attention.";
    PostNormLayer layer = {.projection = {attention + "q_proj", attention + "k_proj", attention + "v_proj"},
                           .attention_output = attention + "o_proj",
                           .attention_norm = name + "attn_ln",
                           .up_and_gate = {name + "mlp.up_gate_proj"},
                           .down = name + "mlp.down_proj",
                           .norm = name + "mlp_ln",
                           .attention_bias = true,
                           .down_bias = true,
                           .drops_gated = true};
    if (packs_projection_) layer.projection = {attention + "qkv_proj"};
    layers.push_back(std::move(layer));
  }
  return PostNormEncoder(b, config, angles_, x, layers);
}

}  // namespace

std::unique_ptr<Family> CreateGte() { return std::make_unique<Gte>(/*is_new=*/false); }
std::unique_ptr<Family> CreateNewGte() { return std::make_unique<Gte>(/*is_new=*/true); }

}  // namespace peruse
