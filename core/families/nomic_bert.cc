// NomicBERT (Nussbaum et al., 2024) 1 and 1.5: BERT with rotary positions and gated feed-forward layers. Code: NomicBertModel of
// transformers 5 and, for configurations with GPT-2's field names, contrastors.
#include "core/families/family.h"
#include "core/families/rotary.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

int32_t RoundedUp(int32_t number, int32_t multiple) { return (number + multiple - 1) / multiple * multiple; }

class NomicBert : public Family {
 public:
  ConfigDefaults defaults() const override { return {.vocab_size = 30528, .max_position_embeddings = 2048}; }
  ConfigFields fields() const override { return {.embedding_size = {}}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {"nomic_bert.", "bert."}; }
  Value Encode(Build& b, const ModelConfig& config) const override;

  PooledHead SequenceClassifier(const ModelConfig&) const override { return TanhPooler(); }
  bool PoolerIsOfEncoder() const override { return true; }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override {
    MaskedLmHead head = BertPredictions(config);
    head.norm = {"cls.predictions.transform.layer_norm"};
    head.activation = head_activation_;
    head.dense_bias = head_bias_;
    if (!head_bias_) head.bias = {};
    return head;
  }

 private:
  void ReadContrastors(ConfigReader& reader, ModelConfig& config);

  ops::RotaryAngles angles_ = {.theta = 1000};
  bool attention_bias_ = false;
  bool up_bias_ = false;
  bool down_bias_ = false;
  bool head_bias_ = true;
  Activation head_activation_ = Activation::kSilu;
};

void NomicBert::Read(ConfigReader& reader, ModelConfig& config) {
  config.hidden_act = reader.ActivationOf("hidden_act", Activation::kSilu);
  config.max_tokens = ModelConfig::kUnlimited;  // no position table: only the tokenizer's model_max_length limits texts
  head_activation_ = config.hidden_act;
  if (reader.Field("n_embd").exists()) ReadContrastors(reader, config);
  RequireRotaryHeads(reader, config);
  angles_.theta = reader.Float("rope_theta", angles_.theta, 1, 1e12f);
  // transformers 5 ignores rope_parameters if the older rope_scaling is set.
  for (const std::string_view field : {"rope_scaling", "rope_parameters"}) {
    const JsonValue rope = reader.Field(field);
    if (!rope.exists()) continue;
    ReadRope(reader, rope, RopeSizesOf(config), &angles_);
    break;
  }
}

// Reads GPT-2's field names, which nomic-ai's checkpoints use.
void NomicBert::ReadContrastors(ConfigReader& reader, ModelConfig& config) {
  const int32_t hidden = reader.Int("n_embd", 768, 1, kMaxHidden);
  config.hidden_size = config.embedding_size = hidden;
  config.num_hidden_layers = reader.Int("n_layer", 12, 1, kMaxLayers);
  config.num_attention_heads = reader.Int("n_head", 12, 1, kMaxHidden);
  // NomicBertGatedMLP rounds its width up.
  config.intermediate_size = RoundedUp(reader.Int("n_inner", 8 * hidden / 3, 1, kMaxIntermediate), 256);
  config.vocab_size = RoundedUp(config.vocab_size, reader.Int("pad_vocab_size_multiple", 1, 1, 1 << 16));
  config.layer_norm_eps = reader.Float("layer_norm_epsilon", 1e-5f, 0, 1);
  attention_bias_ = reader.Bool("qkv_proj_bias", true);
  up_bias_ = head_bias_ = reader.Bool("mlp_fc1_bias", true);
  down_bias_ = reader.Bool("mlp_fc2_bias", true);
  angles_.theta = reader.Float("rotary_emb_base", 10000, 1, 1e12f);

  const std::string activation = reader.String("activation_function", "gelu_new");
  const auto unsupported = [&](const std::string& what) {
    reader.Fail(Unsupported("config.json: " + what + " is not supported in a NomicBERT"));
  };
  if (activation == "swiglu") {
    config.hidden_act = head_activation_ = Activation::kSilu;
  } else if (activation == "geglu" || activation == "glu") {
    config.hidden_act = activation == "glu" ? Activation::kSigmoid : Activation::kGelu;
    head_activation_ = Activation::kGelu;
  } else {
    unsupported("activation_function \"" + activation + "\", which has no gate,");
  }
  if (reader.Float("rotary_emb_fraction", 0, 0, 1) != 1) unsupported("rotary_emb_fraction other than 1");
  for (const char* field : {"prenorm", "parallel_block", "rotary_emb_interleaved", "use_rms_norm", "causal"}) {
    if (reader.Bool(field, false)) unsupported(std::string(field) + " true");
  }
  if (reader.Field("rotary_emb_scale_base").exists()) unsupported("rotary_emb_scale_base");
  if (reader.Int("num_heads_kv", config.num_attention_heads, 1, kMaxHidden) != config.num_attention_heads) {
    unsupported("num_heads_kv other than n_head");
  }
  if (reader.Int("moe_every_n_layers", 0, 0, kMaxLayers) > 0) unsupported("moe_every_n_layers: a mixture of experts");
  // With this option, the frequencies of longer texts depend on their lengths (dynamic NTK scaling).
  if (reader.Float("rotary_scaling_factor", 0, 0, 1e6f) > 0) {
    config.max_tokens = reader.Int("max_trained_positions", 2048, 1, kMaxPositions);
  }
}

Value NomicBert::Encode(Build& b, const ModelConfig& config) const {
  const Value sum = SumEmbeddings(b, config, {.positions = false});
  const Value x = b.Dropped(b.LayerNorm(sum, b.Norm("emb_ln", config.hidden_size, config.layer_norm_eps)));
  b.Output({OutputKind::kHidden, 0}, x);
  std::vector<PostNormLayer> layers;
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    const std::string name = "encoder.layers." + std::to_string(i) + ".";
    layers.push_back({.projection = {name + "attn.Wqkv"},
                      .attention_output = name + "attn.out_proj",
                      .attention_norm = name + "norm1",
                      .up_and_gate = {name + "mlp.fc11", name + "mlp.fc12"},
                      .down = name + "mlp.fc2",
                      .norm = name + "norm2",
                      .attention_bias = attention_bias_,
                      .up_bias = up_bias_,
                      .down_bias = down_bias_});
  }
  return PostNormEncoder(b, config, angles_, x, layers);
}

}  // namespace

std::unique_ptr<Family> CreateNomicBert() { return std::make_unique<NomicBert>(); }

}  // namespace peruse
