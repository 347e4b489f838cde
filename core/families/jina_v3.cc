// Jina embeddings v3 (Sturua et al., 2024): XLM-RoBERTa with rotary positions, and a LoRA adapter for each task. Code: JinaEmbeddingsV3Model
// of transformers 5; and xlm-roberta-flash-implementation, whose checkpoints contain the adapters. Other checkpoints of that code are an
// XLM-RoBERTa with its table of positions.
#include "core/base/utf8.h"
#include "core/families/family.h"
#include "core/families/rotary.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

constexpr const char* kWords = "embeddings.word_embeddings";
constexpr const char* kTypes = "embeddings.token_type_embeddings";

class JinaV3 : public Family {
 public:
  ConfigDefaults defaults() const override {
    return {.vocab_size = 250002,
            .hidden_size = 1024,
            .num_hidden_layers = 24,
            .num_attention_heads = 16,
            .intermediate_size = 4096,
            .max_position_embeddings = 8194,
            .type_vocab_size = 1,
            .layer_norm_eps = 1e-5f};
  }
  ConfigFields fields() const override { return {.embedding_size = {}}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {"roberta."}; }
  Value Encode(Build& b, const ModelConfig& config) const override;

  PooledHead SequenceClassifier(const ModelConfig&) const override { return RobertaClassifier(); }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return RobertaPredictions(config); }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig&) const override {
    return std::optional<PooledHead>();
  }

 private:
  void ReadPositions(ConfigReader& reader, ModelConfig& config);
  void ReadAdapters(ConfigReader& reader, const ModelConfig& config);
  Value Linear(Build& b, Value x, const std::string& name, int32_t out, bool wide_input = false) const;
  Value Embeddings(Build& b, const ModelConfig& config) const;

  std::string WeightOf(const std::string& name) const {
    return name + (tasks_ > 0 ? ".parametrizations.weight.original" : ".weight");
  }

  ops::RotaryAngles angles_ = {.theta = 20000};
  // The padding token of a model with a table of positions, which begin after its id; nullopt for rotary positions.
  std::optional<int32_t> padding_;
  int32_t tasks_ = 0;  // number of adapters in the checkpoint
  int32_t task_ = -1;  // the one that is applied; -1 means none
  int32_t rank_ = 4;
  float scale_ = 1;  // of the adapters
};

void JinaV3::Read(ConfigReader& reader, ModelConfig& config) {
  ReadPositions(reader, config);
  ReadAdapters(reader, config);
}

void JinaV3::ReadPositions(ConfigReader& reader, ModelConfig& config) {
  const bool is_of_code = reader.String("model_type", "").starts_with("xlm-roberta");
  const std::string type = reader.String("position_embedding_type", is_of_code ? "absolute" : "rotary");
  if (type == "absolute") {
    RequireWholeHeads(reader, config);
    padding_ = reader.Int("pad_token_id", 1, 0, kMaxVocabulary);
    if (*padding_ + 2 > config.max_position_embeddings) {
      reader.Refuse("max_position_embeddings", "leaves no position after pad_token_id " + std::to_string(*padding_));
    }
    config.max_tokens = std::max(1, config.max_position_embeddings - *padding_ - 1);
    return;
  }
  if (type != "rotary") {
    reader.Fail(Unsupported("config.json: position_embedding_type \"" + type + "\" is not supported in this model"));
  }
  RequireRotaryHeads(reader, config);
  config.max_tokens = ModelConfig::kUnlimited;  // no position table: only the tokenizer's model_max_length limits texts
  angles_.theta = reader.Float("rotary_emb_base", reader.Float("rope_theta", 20000, 1, 1e12f), 1, 1e12f);
  for (const std::string_view field : {"rope_scaling", "rope_parameters"}) {
    const JsonValue rope = reader.Field(field);
    if (!rope.exists()) continue;
    ReadRope(reader, rope, RopeSizesOf(config), &angles_);
    break;
  }
}

void JinaV3::ReadAdapters(ConfigReader& reader, const ModelConfig& config) {
  std::string names;
  const JsonValue adapters = reader.Field("lora_adaptations");
  tasks_ = static_cast<int32_t>(std::min<size_t>(adapters.size(), kMaxTypes));
  for (int32_t i = 0; i < tasks_; ++i) {
    const std::string_view name = adapters[static_cast<size_t>(i)].GetString().value_or("");
    if (name == config.lora_task) task_ = i;
    names += (i == 0 ? "" : ", ") + Excerpt(name);
  }
  if (!config.lora_task.empty() && task_ < 0) {
    reader.Fail(InvalidArgument("option lora_task is \"" + Excerpt(config.lora_task) +
                                "\", and the model's tasks are " + (names.empty() ? "none" : names)));
  }
  rank_ = reader.Int("lora_rank", 4, 1, kMaxHidden);
  scale_ = reader.Float("lora_alpha", 1, 0, 1e6f) / static_cast<float>(rank_);
}

// x W^T + bias, with W + scale B A of the task if it has an adapter.
Value JinaV3::Linear(Build& b, Value x, const std::string& name, int32_t out, bool wide_input) const {
  const int32_t in = b.cols(x);
  Stack layer = b.Stacked(in).AddWeight({WeightOf(name)}, {out, in}, out).AddBias({name + ".bias"}, {out}, 0);
  const Value whole = b.Linear(x, wide_input ? layer.WithWideInput() : layer);
  if (task_ < 0) return whole;
  const std::string lora = name + ".parametrizations.weight.0.lora_";
  const Value low = b.Linear(x, b.StackedF32(in).AddPart(lora + "A", tasks_, task_, rank_));
  return b.Add(whole, b.Linear(low, b.StackedF32(rank_).AddPart(lora + "B", tasks_, task_, out, scale_)));
}

Value JinaV3::Embeddings(Build& b, const ModelConfig& config) const {
  const int32_t hidden = config.hidden_size, words = config.vocab_size, types = config.type_vocab_size;
  std::vector<ops::Embed::Lookup> lookups = {
      {b.Table(WeightOf(kWords), words, hidden, /*words=*/true), b.IndexOf(indices::TokenIds{})}};
  if (types > 0) lookups.push_back({b.Table(WeightOf(kTypes), types, hidden), b.IndexOf(indices::TokenTypes{})});
  if (padding_) {
    lookups.push_back({b.Table("embeddings.position_embeddings.weight", config.max_position_embeddings, hidden),
                       b.IndexOf(indices::PaddedPositions{*padding_})});
  }
  Value x = b.Embed(lookups);
  const auto add = [&](const char* name, int32_t rows, const Index& index) {
    const std::string lora = std::string(name) + ".parametrizations.weight.0.lora_";
    const TableId table = b.FlatTable(lora + "A", {tasks_, rows, rank_}, rank_);
    const Value low = b.Embed({{table, b.IndexOf(index)}}, scale_);
    x = b.Add(x, b.Linear(low, b.StackedF32(rank_).AddTransposedPart(lora + "B", tasks_, task_, hidden)));
  };
  if (task_ >= 0) add(kWords, words, indices::TokenIds{task_ * words});
  if (task_ >= 0 && types > 0) add(kTypes, types, indices::TokenTypes{task_ * types});
  x = b.Dropped(b.LayerNorm(x, b.Norm("emb_ln", hidden, config.layer_norm_eps)));
  b.Output({OutputKind::kHidden, 0}, x);
  return x;
}

Value JinaV3::Encode(Build& b, const ModelConfig& config) const {
  const int32_t hidden = config.hidden_size;
  Value x = Embeddings(b, config);
  const Value turns = padding_ ? Value() : b.RotaryAngles(angles_, hidden / config.num_attention_heads);
  const auto norm = [&](const std::string& name, Value added) {
    return b.LayerNorm(b.Add(b.Dropped(added), x), b.Norm(name, hidden, config.layer_norm_eps));
  };
  for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
    const std::string name = "encoder.layers." + std::to_string(i) + ".";
    const Value context = RotaryAttention(b, config, i, Linear(b, x, name + "mixer.Wqkv", 3 * hidden), turns);
    x = norm(name + "norm1", Linear(b, context, name + "mixer.out_proj", hidden));
    const Value wide = b.Activate(Linear(b, x, name + "mlp.fc1", config.intermediate_size), config.hidden_act);
    x = norm(name + "norm2", Linear(b, wide, name + "mlp.fc2", hidden, /*wide_input=*/true));
    b.Output({OutputKind::kHidden, i + 1}, x);
  }
  return x;
}

}  // namespace

std::unique_ptr<Family> CreateJinaV3() { return std::make_unique<JinaV3>(); }

}  // namespace peruse
