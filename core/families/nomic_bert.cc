// NomicBERT: BERT with rotary positions. The feed-forward layers of versions 1 and 1.5 (Nussbaum et al., 2024) have gates. Those of version 2
// (2025) do not, and every second one is a mixture of experts. Code: NomicBertModel of transformers 5 and, for configurations with GPT-2's
// field names, contrastors.
#include <algorithm>

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
  void ReadExperts(ConfigReader& reader, const ModelConfig& config);

  ops::RotaryAngles angles_ = {.theta = 1000};
  bool attention_bias_ = false;
  bool up_bias_ = false;
  bool down_bias_ = false;
  bool head_bias_ = true;
  bool gated_ = true;
  int32_t mixture_period_ = 0;  // layer i has experts if i % mixture_period_ is 1; 0 means that none has
  int32_t experts_ = 0;
  int32_t chosen_ = 0;
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
  config.vocab_size = RoundedUp(config.vocab_size, reader.Int("pad_vocab_size_multiple", 1, 1, 1 << 16));
  config.layer_norm_eps = reader.Float("layer_norm_epsilon", 1e-5f, 0, 1);
  attention_bias_ = reader.Bool("qkv_proj_bias", true);
  up_bias_ = head_bias_ = reader.Bool("mlp_fc1_bias", true);
  down_bias_ = reader.Bool("mlp_fc2_bias", true);
  angles_.theta = reader.Float("rotary_emb_base", 10000, 1, 1e12f);

  const std::string activation = reader.String("activation_function", "gelu_new");
  gated_ = activation != "gelu";
  const int32_t inner = reader.Int("n_inner", gated_ ? 8 * hidden / 3 : 4 * hidden, 1, kMaxIntermediate);
  config.intermediate_size = gated_ ? RoundedUp(inner, 256) : inner;  // as NomicBertGatedMLP
  const auto unsupported = [&](const std::string& what) {
    reader.Fail(Unsupported("config.json: " + what + " is not supported in a NomicBERT"));
  };
  if (activation == "swiglu") {
    config.hidden_act = head_activation_ = Activation::kSilu;
  } else if (activation == "geglu" || activation == "glu") {
    config.hidden_act = activation == "glu" ? Activation::kSigmoid : Activation::kGelu;
    head_activation_ = Activation::kGelu;
  } else if (!gated_) {
    config.hidden_act = head_activation_ = Activation::kGelu;
  } else {
    unsupported("activation_function \"" + activation + "\"");
  }
  if (reader.Float("rotary_emb_fraction", 0, 0, 1) != 1) unsupported("rotary_emb_fraction other than 1");
  for (const char* field : {"prenorm", "parallel_block", "rotary_emb_interleaved", "use_rms_norm", "causal"}) {
    if (reader.Bool(field, false)) unsupported(std::string(field) + " true");
  }
  if (reader.Field("rotary_emb_scale_base").exists()) unsupported("rotary_emb_scale_base");
  if (reader.Int("num_heads_kv", config.num_attention_heads, 1, kMaxHidden) != config.num_attention_heads) {
    unsupported("num_heads_kv other than n_head");
  }
  mixture_period_ = reader.Int("moe_every_n_layers", 0, 0, kMaxLayers);
  if (mixture_period_ > 0) ReadExperts(reader, config);
  // With this option, the frequencies of longer texts depend on their lengths (dynamic NTK scaling).
  if (reader.Float("rotary_scaling_factor", 0, 0, 1e6f) > 0) {
    config.max_tokens = reader.Int("max_trained_positions", 2048, 1, kMaxPositions);
  }
}

void NomicBert::ReadExperts(ConfigReader& reader, const ModelConfig& config) {
  constexpr int32_t kMaxExperts = 1024;
  experts_ = reader.Int("num_experts", 8, 1, kMaxExperts);
  chosen_ = reader.Int("moe_top_k", 1, 1, kMaxExperts);
  const auto unsupported = [&](const std::string& what) {
    reader.Fail(Unsupported("config.json: " + what + " is not supported in a NomicBERT with experts"));
  };
  if (gated_) unsupported("an activation_function other than gelu");
  if (chosen_ > experts_) unsupported("moe_top_k above num_experts");
  if (reader.Int("num_shared_experts", 0, 0, kMaxExperts) > 0) unsupported("num_shared_experts");
  if (reader.Float("ffn_div", 1, 0, 1e6f) != 1) unsupported("ffn_div other than 1");
  for (const char* field : {"moe_normalize_expert_weights", "expert_choice_router"}) {
    if (reader.Bool(field, false)) unsupported(std::string(field) + " true");
  }
  constexpr int32_t kMultiple = ops::Linear::kPartMultiple;
  if (config.hidden_size % kMultiple != 0 || config.intermediate_size % kMultiple != 0) {
    unsupported("an n_embd or n_inner that is no multiple of " + std::to_string(kMultiple));
  }
  if (int64_t{experts_} * std::max(config.hidden_size, config.intermediate_size) > INT32_MAX) {
    unsupported("num_experts " + std::to_string(experts_) + " of this width");
  }
}

Value NomicBert::Encode(Build& b, const ModelConfig& config) const {
  const Value sum = SumEmbeddings(b, config, {.positions = false});
  const Value x = b.Dropped(b.LayerNorm(sum, b.Norm("emb_ln", config.hidden_size, config.layer_norm_eps)));
  b.Output({OutputKind::kHidden, 0}, x);
  std::vector<PostNormLayer> layers;
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    const std::string name = "encoder.layers." + std::to_string(i) + ".";
    layers.push_back(
        {.projection = {name + "attn.Wqkv"},
         .attention_output = name + "attn.out_proj",
         .attention_norm = name + "norm1",
         .up_and_gate = gated_ ? std::vector{name + "mlp.fc11", name + "mlp.fc12"} : std::vector{name + "mlp.fc1"},
         .down = name + "mlp.fc2",
         .norm = name + "norm2",
         .attention_bias = attention_bias_,
         .up_bias = up_bias_,
         .down_bias = down_bias_,
         .gated = gated_,
         .experts = mixture_period_ > 0 && i % mixture_period_ == 1 ? experts_ : 0,
         .chosen = chosen_,
         .mixture = name + "mlp."});
  }
  return PostNormEncoder(b, config, angles_, x, layers);
}

}  // namespace

std::unique_ptr<Family> CreateNomicBert() { return std::make_unique<NomicBert>(); }

}  // namespace peruse
