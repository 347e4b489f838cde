// Qwen3 (Qwen3Model of transformers): a causal language model that was trained to embed texts (Qwen3-Embedding, Zhang et al., 2025) or to
// classify them.
#include "core/families/family.h"
#include "core/families/rms_layers.h"

namespace peruse {
namespace {

class Qwen3 : public Family {
 public:
  ConfigDefaults defaults() const override {
    return {.vocab_size = 151936,
            .hidden_size = 4096,
            .num_hidden_layers = 32,
            .num_attention_heads = 32,
            .intermediate_size = 22016,
            .max_position_embeddings = 32768};
  }
  ConfigFields fields() const override { return {.embedding_size = {}}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  bool IsLanguageModel() const override { return true; }
  std::string LanguageHead(const ModelConfig& config) const override { return RmsLanguageHead(config); }
  std::vector<std::string> prefixes() const override { return {"model.", "transformer."}; }
  Value Encode(Build& b, const ModelConfig& config) const override { return RmsEncoder(b, config, layers_); }

  PooledHead SequenceClassifier(const ModelConfig&) const override { return LastTokenClassifier(padding_); }
  TokenHead TokenClassifier(const ModelConfig& config) const override { return {"score", config.num_labels(), true}; }
  MaskedLmHead MaskedLm(const ModelConfig&) const override { return {}; }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig&) const override {
    return std::optional<PooledHead>();
  }

 private:
  RmsLayers layers_;
  std::optional<int32_t> padding_;
};

void Qwen3::Read(ConfigReader& reader, ModelConfig& config) {
  config.hidden_act = reader.ActivationOf("hidden_act", Activation::kSilu);
  config.tie_word_embeddings = reader.Bool("tie_word_embeddings", false);
  ReadRmsLayers(reader, config, {.head_dim = 128, .kv_heads = reader.IsNull("num_key_value_heads") ? 0 : 32}, &layers_);
  ReadRopeOfAll(reader, config, 10000, &layers_);
  padding_ = ReadPadding(reader);
  layers_.head_norms = true;
  const bool slides = reader.Bool("use_sliding_window", false) && !reader.IsNull("sliding_window");
  ReadCausality(reader, slides ? reader.Int("sliding_window", 4096, 1, kMaxPositions) : ops::Attention::kAllKeys,
                &layers_);
  const int32_t full = reader.Int("max_window_layers", 28, 0, kMaxLayers);
  if (ReadLayerTypes(reader, config, &layers_.is_sliding) || !slides) return;
  for (int32_t i = full; i < config.num_hidden_layers; ++i) layers_.is_sliding[static_cast<size_t>(i)] = true;
}

}  // namespace

std::unique_ptr<Family> CreateQwen3() { return std::make_unique<Qwen3>(); }

}  // namespace peruse
