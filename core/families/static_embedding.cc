// Static embeddings (model2vec, sentence_transformers' StaticEmbedding): a table of token vectors without an encoder. web/src/sources writes
// this config.json for folders of both packages.
#include "core/families/family.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

class StaticEmbedding : public Family {
 public:
  ConfigDefaults defaults() const override { return {.type_vocab_size = 0}; }
  void Read(ConfigReader& reader, ModelConfig& config) override {
    config.num_hidden_layers = 0;
    const int32_t limit = reader.Int("seq_length", 0, 0, kMaxPositions);
    config.max_tokens = limit > 0 ? limit : ModelConfig::kUnlimited;
  }
  std::vector<std::string> prefixes() const override { return {"static."}; }

  Value Encode(Build& b, const ModelConfig& config) const override {
    const Value x = SumEmbeddings(b, config, {.positions = false, .types = false});
    b.Output({OutputKind::kHidden, 0}, x);
    return x;
  }

  PooledHead SequenceClassifier(const ModelConfig&) const override { return {}; }
  MaskedLmHead MaskedLm(const ModelConfig&) const override { return {}; }
};

}  // namespace

std::unique_ptr<Family> CreateStaticEmbedding() { return std::make_unique<StaticEmbedding>(); }

}  // namespace peruse
