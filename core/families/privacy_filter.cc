// OpenAI's privacy filter (2026; OpenAIPrivacyFilterForTokenClassification of transformers 5): a token classifier with the layers of gpt-oss,
// which sees a text from both sides. Each layer is a mixture of experts.
#include <string>

#include "core/base/json.h"
#include "core/families/family.h"
#include "core/families/rms_layers.h"

namespace peruse {
namespace {

// The positions of a config.json that does not describe them.
constexpr std::string_view kUsualRope =
    R"({"rope_type":"yarn","factor":32,"beta_fast":32,"beta_slow":1,"truncate":false,"original_max_position_embeddings":4096})";

constexpr std::string_view kUsualKinds[] = {"account_number", "private_address", "private_date", "private_email",
                                            "private_person", "private_phone",   "private_url",  "secret"};

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
  void ReadPositions(ConfigReader& reader, const ModelConfig& config);
  void ReadBiases(ConfigReader& reader, ModelConfig& config);
  void ReadExperts(ConfigReader& reader, const ModelConfig& config);

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
  if (!layers_.attention_bias) {
    reader.Fail(Unsupported("config.json: attention_bias false is not supported in a privacy filter"));
  }
  layers_.rotates_pairs = layers_.sinks = true;
  layers_.full.before = layers_.full.after = reader.Int("sliding_window", 128, 1, kMaxPositions);
  layers_.feed_forward = MixExperts;
  ReadPositions(reader, config);
  ReadExperts(reader, config);
  ReadBiases(reader, config);
  if (reader.Field("id2label").exists() || reader.Field("num_labels").exists()) return;
  std::vector<std::string> labels = {"O"};
  for (const std::string_view kind : kUsualKinds) {
    for (const char* prefix : {"B-", "I-", "E-", "S-"}) labels.push_back(prefix + std::string(kind));
  }
  SetLabels(std::move(labels), &config);
}

void PrivacyFilter::ReadPositions(ConfigReader& reader, const ModelConfig& config) {
  ReadRopeOfAll(reader, config, 150000, &layers_);
  if (reader.Field("rope_parameters").exists() || reader.Field("rope_scaling").exists()) return;
  const Result<JsonDocument> usual = JsonDocument::Parse(kUsualRope, "rope_parameters");
  PERUSE_CHECK(usual.ok());
  ReadRope(reader, usual->root(), {layers_.head_dim, config.max_position_embeddings}, &layers_.full.angles);
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
  if (!complete) {
    reader.Fail(
        MalformedFile("viterbi_calibration.json: operating_points.default.biases must have the six transition_bias_ "
                      "numbers of the privacy filter, and no others"));
  }
  reader.Fail(own.status());
}

void PrivacyFilter::ReadExperts(ConfigReader& reader, const ModelConfig& config) {
  constexpr int32_t kMaxExperts = 1024, kMultiple = ops::Linear::kPartMultiple;
  layers_.experts = reader.Int("num_local_experts", reader.Int("num_experts", 128, 1, kMaxExperts), 1, kMaxExperts);
  layers_.chosen = reader.Int("num_experts_per_tok", 4, 1, kMaxExperts);
  const auto unsupported = [&](const std::string& what) {
    reader.Fail(Unsupported("config.json: " + what + " is not supported in a privacy filter"));
  };
  if (layers_.chosen > layers_.experts) unsupported("num_experts_per_tok above num_local_experts");
  if (config.hidden_size % kMultiple != 0 || config.intermediate_size % kMultiple != 0) {
    unsupported("a hidden_size or intermediate_size that is no multiple of " + std::to_string(kMultiple));
  }
  if (int64_t{layers_.experts} * std::max(config.hidden_size, config.intermediate_size) > INT32_MAX) {
    unsupported("num_local_experts " + std::to_string(layers_.experts) + " of this width");
  }
}

}  // namespace

std::unique_ptr<Family> CreatePrivacyFilter() { return std::make_unique<PrivacyFilter>(); }

}  // namespace peruse
