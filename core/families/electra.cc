// ELECTRA (Clark et al., 2020; transformers' ElectraModel): BERT's encoder with a separate embedding size.
#include "core/families/family.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

class Electra : public Family {
 public:
  ConfigDefaults defaults() const override {
    return {.hidden_size = 256, .embedding_size = 128, .num_attention_heads = 4, .intermediate_size = 1024};
  }
  void Read(ConfigReader& reader, ModelConfig& config) override {
    RequireWholeHeads(reader, config);
    positions_ = ReadPositionType(reader);
    summary_ = ReadSummary(reader, "first", true, Activation::kGelu);
  }
  std::vector<std::string> prefixes() const override { return {"electra."}; }

  Value Encode(Build& b, const ModelConfig& config) const override {
    const Value embeddings = BertEmbeddings(b, config, {.positions = positions_ == PositionType::kAbsolute});
    return BertEncoder(b, config, {positions_}, embeddings);
  }

  // ElectraClassificationHead always uses gelu.
  PooledHead SequenceClassifier(const ModelConfig&) const override {
    return {.transform = {.dense = "classifier.dense", .activation = Activation::kGelu},
            .classifier = "classifier.out_proj",
            .drops_row = true};
  }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return GeneratorHead(config); }
  Pretraining pretraining() const override {
    return {.narrow_generator = true, .discriminator_class = "ForPreTraining"};
  }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig& config) const override {
    return SummaryHead(summary_, config);
  }
  std::optional<DiscriminatorHead> Discriminator(const ModelConfig& config) const override {
    return DiscriminatorHead{.dense = "discriminator_predictions.dense",
                             .classifier = "discriminator_predictions.dense_prediction",
                             .activation = config.hidden_act};
  }

 private:
  PositionType positions_ = PositionType::kAbsolute;
  SummaryConfig summary_;
};

}  // namespace

std::unique_ptr<Family> CreateElectra() { return std::make_unique<Electra>(); }

}  // namespace peruse
