// RoBERTa (Liu et al., 2019; transformers' RobertaModel): BERT's encoder with positions that start after the padding token's id.
#include <algorithm>

#include "core/families/family.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

class Roberta : public Family {
 public:
  explicit Roberta(int32_t default_vocab_size) : default_vocab_size_(default_vocab_size) {}

  ConfigDefaults defaults() const override { return {.vocab_size = default_vocab_size_}; }
  ConfigFields fields() const override {
    ConfigFields fields;
    fields.embedding_size = {};
    return fields;
  }
  void Read(ConfigReader& reader, ModelConfig& config) override {
    RequireWholeHeads(reader, config);
    positions_ = ReadPositionType(reader);
    padding_ = reader.Int("pad_token_id", 1, 0, kMaxVocabulary);
    if (padding_ + 2 > config.max_position_embeddings) {
      reader.Refuse("max_position_embeddings", "leaves no position after pad_token_id " + std::to_string(padding_));
    }
    config.max_tokens = std::max(1, config.max_position_embeddings - padding_ - 1);
  }
  std::vector<std::string> prefixes() const override { return {"roberta."}; }

  // The positions follow transformers' create_position_ids_from_input_ids.
  Value Encode(Build& b, const ModelConfig& config) const override {
    EmbeddingOptions options;
    options.positions = positions_ == PositionType::kAbsolute;
    options.position_index = indices::PaddedPositions{padding_};
    return BertEncoder(b, config, {positions_}, BertEmbeddings(b, config, options));
  }

  PooledHead SequenceClassifier(const ModelConfig&) const override { return RobertaClassifier(); }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig&) const override {
    return std::optional(TanhPooler());
  }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return RobertaPredictions(config); }

 private:
  const int32_t default_vocab_size_;
  PositionType positions_ = PositionType::kAbsolute;
  int32_t padding_ = 1;
};

}  // namespace

std::unique_ptr<Family> CreateRoberta() { return std::make_unique<Roberta>(50265); }

// XLM-RoBERTa (Conneau et al., 2020; transformers' XLMRobertaModel) is a RoBERTa with another vocabulary.
std::unique_ptr<Family> CreateXlmRoberta() { return std::make_unique<Roberta>(30522); }

// CamemBERT (Martin et al., 2020; transformers' CamembertModel) is a French RoBERTa.
std::unique_ptr<Family> CreateCamembert() { return std::make_unique<Roberta>(30522); }

}  // namespace peruse
