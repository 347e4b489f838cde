// ALBERT (Lan et al., 2019; transformers' AlbertModel): BERT's encoder with narrow embeddings, and layers that share their weights.
#include "core/families/family.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

constexpr const char* kWords = "embeddings.word_embeddings.weight";

// Tensor names of the layer that all layers of a group share.
LayerNames SharedLayer(int32_t group) {
  const std::string name = "encoder.albert_layer_groups." + std::to_string(group) + ".albert_layers.0.";
  const std::string attention = name + "attention.";
  return {attention + "query",         attention + "key",
          attention + "value",         attention + "dense",
          attention + "LayerNorm",     {name + "ffn", name + "ffn_output", name + "full_layer_layer_norm"},
          /*drops_attention=*/true,
          /*drops_feed_forward=*/false};
}

class Albert : public Family {
 public:
  ConfigDefaults defaults() const override {
    return {.vocab_size = 30000,
            .hidden_size = 4096,
            .embedding_size = 128,
            .num_attention_heads = 64,
            .intermediate_size = 16384};
  }
  void Read(ConfigReader& reader, ModelConfig& config) override {
    RequireWholeHeads(reader, config);
    config.hidden_act = reader.ActivationOf("hidden_act", Activation::kGeluTanh);
    groups_ = reader.Int("num_hidden_groups", 1, 1, config.num_hidden_layers);
    if (reader.Int("inner_group_num", 1, 1, kMaxLayers) != 1) {
      reader.Fail(Unsupported("config.json: inner_group_num other than 1 is not supported"));
    }
    if (ReadPositionType(reader) != PositionType::kAbsolute) {
      reader.Fail(
          Unsupported("config.json: position_embedding_type other than \"absolute\" is not supported in an ALBERT"));
    }
  }
  std::vector<std::string> prefixes() const override { return {"albert."}; }

  Value Encode(Build& b, const ModelConfig& config) const override {
    const int32_t width = config.embedding_size;
    const Value sum = SumEmbeddings(b, config, {});
    Value x = b.Dropped(b.LayerNorm(sum, b.Norm("embeddings.LayerNorm", width, config.layer_norm_eps)));
    x = b.Linear(x, b.Stacked(width).Add("encoder.embedding_hidden_mapping_in", config.hidden_size));
    b.Output({OutputKind::kHidden, 0}, x);
    std::vector<LayerWeights> groups;
    for (int32_t g = 0; g < groups_; ++g) groups.push_back(DeclareLayer(b, config, SharedLayer(g)));
    for (int32_t i = 0; i < config.num_hidden_layers; ++i) {
      x = EncoderLayer(b, config, groups[GroupOf(i, config)], {}, i, x);
    }
    return x;
  }

  PooledHead SequenceClassifier(const ModelConfig&) const override { return TanhPooler("pooler"); }
  bool PoolerIsOfEncoder() const override { return true; }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override {
    MaskedLmHead head;
    head.dense = {"predictions.dense"};
    head.norm = {"predictions.LayerNorm"};
    head.activation = config.hidden_act;
    head.decoder = {config.tie_word_embeddings ? kWords : "predictions.decoder.weight"};
    head.bias = BiasNames(config, "predictions.bias", "predictions.decoder.bias");
    return head;
  }

 private:
  // Divides in doubles, as AlbertTransformer does: the number of groups may not divide the number of layers.
  size_t GroupOf(int32_t layer, const ModelConfig& config) const {
    const double layers_per_group = static_cast<double>(config.num_hidden_layers) / groups_;
    return static_cast<size_t>(layer / layers_per_group);
  }

  int32_t groups_ = 1;
};

}  // namespace

std::unique_ptr<Family> CreateAlbert() { return std::make_unique<Albert>(); }

}  // namespace peruse
