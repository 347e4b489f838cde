// OpenAI's privacy filter (2026; OpenAIPrivacyFilterForTokenClassification of transformers 5): a token classifier with the layers of gpt-oss,
// which sees a text from both sides. Each layer is a mixture of experts.
#include <string>

#include "core/base/json.h"
#include "core/families/family.h"
#include "core/families/rms_layers.h"

namespace peruse {
namespace {

class PrivacyFilter : public Family {
 public:
  ConfigDefaults defaults() const override {
    return {.vocab_size = 200064,
            .hidden_size = 640,
            .num_hidden_layers = 8,
            .num_attention_heads = 14,
            .intermediate_size = 640,
            .max_position_embeddings = 131072};
  }
  ConfigFields fields() const override { return {.embedding_size = {}}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {"model."}; }
  Value Encode(Build& b, const ModelConfig& config) const override { return RmsEncoder(b, config, layers_); }

  TokenHead TokenClassifier(const ModelConfig& config) const override { return {"score", config.num_labels()}; }
  PooledHead SequenceClassifier(const ModelConfig&) const override { return {}; }
  MaskedLmHead MaskedLm(const ModelConfig&) const override { return {}; }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig&) const override {
    return std::optional<PooledHead>();
  }

 private:
  void ReadBiases(ConfigReader& reader, ModelConfig& config);

  RmsLayers layers_;
};

// Sums the outputs of a token's experts, each times its share among them. Gate and up projection of an expert are columns of one matrix.
Value MixExperts(Build& b, const ModelConfig& config, const RmsLayers& layers, const std::string& name, Value x) {
  const int32_t hidden = config.hidden_size, wide = config.intermediate_size;
  const std::string experts = name + "experts.";
  // In float32: which experts a token passes through would depend on the precision.
  const Stack routes = b.StackedF32(hidden)
                           .AddWeight({name + "router.weight"}, {layers.experts, hidden}, layers.experts)
                           .AddBias({name + "router.bias"}, {layers.experts}, 0);
  const Value router = b.Linear(x, routes);
  const auto half = [&](int32_t first, Activation activation) {
    const LinearId weight =
        b.Weights(b.Stacked(hidden).AddExperts(experts + "gate_up_proj", layers.experts, 2 * wide, first, wide));
    return b.Activate(b.Experts({.x = x, .router = router, .weight = weight, .chosen = layers.chosen}), activation);
  };
  const Value gate = half(0, Activation::kCappedQuickGelu), up = half(wide, Activation::kClippedPlusOne);
  const LinearId down =
      b.Weights(b.Stacked(wide).AddExperts(experts + "down_proj", layers.experts, hidden, 0, hidden).WithWideInput());
  return b.Experts({.x = b.Multiply(gate, up),
                    .router = router,
                    .weight = down,
                    .chosen = layers.chosen,
                    .sums = true,
                    .among_chosen = true});
}

void PrivacyFilter::Read(ConfigReader& reader, ModelConfig& config) {
  ReadRmsLayers(reader, config,
                {.head_dim = reader.IsNull("head_dim") ? 0 : 64,
                 .kv_heads = reader.IsNull("num_key_value_heads") ? 0 : 2,
                 .eps = 1e-5f,
                 .attention_bias = true},
                &layers_);
  layers_.rotates_pairs = layers_.sinks = true;
  layers_.full.before = layers_.full.after = reader.Int("sliding_window", 128, 1, kMaxPositions);
  layers_.feed_forward = MixExperts;
  ReadRopeOfAll(reader, config, 150000, &layers_);
  layers_.experts = reader.Int("num_local_experts", reader.Int("num_experts", 128, 1, 1024), 1, 1024);
  layers_.chosen = reader.Int("num_experts_per_tok", 4, 1, layers_.experts);
  constexpr int32_t kMultiple = ops::Linear::kPartMultiple;
  const auto refuse = [&](bool is_set, const char* what) {
    if (is_set) reader.Fail(Unsupported("config.json: " + std::string(what) + " is not supported in a privacy filter"));
  };
  refuse(!layers_.attention_bias, "attention_bias false");
  refuse(!reader.Field("rope_parameters").exists(), "an absent rope_parameters");  // transformers writes it
  refuse(config.hidden_size % kMultiple != 0, "a hidden_size that is no multiple of 64");
  refuse(config.intermediate_size % kMultiple != 0, "an intermediate_size that is no multiple of 64");
  ReadBiases(reader, config);
}

// Reads the content of viterbi_calibration.json, which the host inserts into config.json. All six numbers must be there, and no others.
void PrivacyFilter::ReadBiases(ConfigReader& reader, ModelConfig& config) {
  PathBiases& biases = config.path_biases.emplace();
  const JsonValue file = reader.Field("viterbi_calibration");
  if (!file.exists()) return;
  const JsonValue values = file.FindMember("operating_points").FindMember("default").FindMember("biases");
  ConfigReader own(values);
  const std::pair<const char*, float*> fields[] = {
      {"background_stay", &biases.background_stay},       {"background_to_start", &biases.background_to_start},
      {"inside_to_continue", &biases.inside_to_continue}, {"inside_to_end", &biases.inside_to_end},
      {"end_to_background", &biases.end_to_background},   {"end_to_start", &biases.end_to_start}};
  bool complete = values.IsObject() && values.size() == std::size(fields);
  for (const auto& [name, bias] : fields) {
    const std::string field = "transition_bias_" + std::string(name);
    complete = complete && own.Field(field).exists();
    *bias = own.Float(field, 0, -1e6f, 1e6f);
  }
  if (!complete) reader.Refuse("viterbi_calibration", "must have the six numbers of operating_points.default.biases");
  reader.Fail(own.status());
}

}  // namespace

std::unique_ptr<Family> CreatePrivacyFilter() { return std::make_unique<PrivacyFilter>(); }

}  // namespace peruse
