// BERT (Devlin et al., 2018; transformers' BertModel).
#include "core/families/family.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

class Bert : public Family {
 public:
  ConfigFields fields() const override {
    ConfigFields fields;
    fields.embedding_size = {};
    return fields;
  }
  void Read(ConfigReader& reader, ModelConfig& config) override {
    RequireWholeHeads(reader, config);
    positions_ = ReadPositionType(reader);
  }
  std::vector<std::string> prefixes() const override { return {"bert."}; }

  Value Encode(Build& b, const ModelConfig& config) const override {
    const Value embeddings = BertEmbeddings(b, config, {.positions = positions_ == PositionType::kAbsolute});
    return BertEncoder(b, config, {positions_}, embeddings);
  }

  PooledHead SequenceClassifier(const ModelConfig&) const override { return TanhPooler(); }
  bool PoolerIsOfEncoder() const override { return true; }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return BertPredictions(config); }

 private:
  PositionType positions_ = PositionType::kAbsolute;
};

}  // namespace

std::unique_ptr<Family> CreateBert() { return std::make_unique<Bert>(); }

}  // namespace peruse
