// MPNet (Song et al., 2020; transformers' MPNetModel): BERT's encoder with a bias per head and distance, shared by all layers.
#include <algorithm>

#include "core/families/family.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

constexpr int32_t kBuckets = 32;  // transformers ignores relative_attention_num_buckets
constexpr int32_t kMaxDistance = 128;
constexpr int32_t kPadding = 1;  // MPNetEmbeddings.padding_idx; transformers ignores pad_token_id

LayerNames MpNetLayer(int32_t layer) {
  LayerNames names = BertLayer(layer);
  const std::string attention = LayerName(layer) + "attention.";
  names.query = attention + "attn.q";
  names.key = attention + "attn.k";
  names.value = attention + "attn.v";
  names.attention_output = attention + "attn.o";
  names.attention_norm = attention + "LayerNorm";
  return names;
}

class MpNet : public Family {
 public:
  ConfigDefaults defaults() const override { return {.vocab_size = 30527, .type_vocab_size = 0}; }
  ConfigFields fields() const override {
    ConfigFields fields;
    fields.embedding_size = {};
    return fields;
  }
  void Read(ConfigReader& reader, ModelConfig& config) override {
    RequireWholeHeads(reader, config);
    buckets_ = reader.Int("relative_attention_num_buckets", kBuckets, kBuckets, kMaxVocabulary);
    if (kPadding + 2 > config.max_position_embeddings) {
      reader.Refuse("max_position_embeddings", "leaves no position after the padding token");
    }
    config.type_vocab_size = 0;
    config.max_tokens = std::max(1, config.max_position_embeddings - kPadding - 1);
  }
  std::vector<std::string> prefixes() const override { return {"mpnet."}; }

  Value Encode(Build& b, const ModelConfig& config) const override {
    EmbeddingOptions options;
    options.position_index = indices::PaddedPositions{kPadding};
    const Value embeddings = BertEmbeddings(b, config, options);
    RelativePositions positions;
    positions.bias = b.Constant("encoder.relative_attention_bias.weight", buckets_, config.num_attention_heads);
    positions.slots = b.IndexOf(indices::Slots{
        .rows = buckets_, .kind = indices::Slots::Buckets::kT5, .buckets = kBuckets, .max_position = kMaxDistance});
    return BertEncoder(b, config, positions, embeddings, MpNetLayer);
  }

  PooledHead SequenceClassifier(const ModelConfig&) const override { return RobertaClassifier(); }
  Result<std::optional<PooledHead>> MultipleChoice(const ModelConfig&) const override {
    return std::optional(TanhPooler());
  }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override { return RobertaPredictions(config); }

 private:
  int32_t buckets_ = kBuckets;
};

}  // namespace

std::unique_ptr<Family> CreateMpNet() { return std::make_unique<MpNet>(); }

}  // namespace peruse
