// EuroBERT (Boizard et al., 2025; EuroBertModel of transformers 5): an encoder with the layers of Llama.
#include "core/families/family.h"
#include "core/families/rms_layers.h"

namespace peruse {
namespace {

class EuroBert : public Family {
 public:
  ConfigDefaults defaults() const override { return {.vocab_size = 128256, .max_position_embeddings = 8192}; }
  ConfigFields fields() const override { return {.embedding_size = {}}; }
  void Read(ConfigReader& reader, ModelConfig& config) override;
  std::vector<std::string> prefixes() const override { return {"model."}; }
  Value Encode(Build& b, const ModelConfig& config) const override { return RmsEncoder(b, config, layers_); }

  PooledHead SequenceClassifier(const ModelConfig&) const override {
    return {.pick = pooling_ == "bos" ? PooledHead::Pick::kFirst : PooledHead::Pick::kMean,
            .transform = {.dense = "dense", .activation = Activation::kGelu},
            .transforms_all = pooling_ == "late",
            .drops = false};
  }
  TokenHead TokenClassifier(const ModelConfig& config) const override { return {"classifier", config.num_labels()}; }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override {
    MaskedLmHead head;
    head.decoder = {config.tie_word_embeddings ? RmsLayers::kWords : "lm_head.weight"};
    if (layers_.mlp_bias) head.bias = {"lm_head.bias"};
    return head;
  }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig&) const override {
    return std::optional<PooledHead>();
  }

 private:
  RmsLayers layers_;
  std::string pooling_;
};

void EuroBert::Read(ConfigReader& reader, ModelConfig& config) {
  RequireWholeHeads(reader, config);
  config.hidden_act = reader.ActivationOf("hidden_act", Activation::kSilu);
  config.tie_word_embeddings = reader.Bool("tie_word_embeddings", false);
  ReadRmsLayers(reader, config, {.eps = 1e-5f}, &layers_);
  ReadRopeOfAll(reader, config, 10000, &layers_);
  pooling_ = reader.String("classifier_pooling", "late");
  if (pooling_ != "bos" && pooling_ != "mean" && pooling_ != "late") {
    reader.Fail(Unsupported("config.json: classifier_pooling \"" + pooling_ +
                            "\" is not supported; use \"bos\", \"mean\" or \"late\""));
  }
}

}  // namespace

std::unique_ptr<Family> CreateEuroBert() { return std::make_unique<EuroBert>(); }

}  // namespace peruse
