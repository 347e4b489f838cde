// DistilBERT (Sanh et al., 2019; transformers' DistilBertModel): BERT's encoder without segments, and with its own tensor names.
#include "core/families/family.h"
#include "core/families/transformer.h"

namespace peruse {
namespace {

LayerNames DistilBertLayer(int32_t layer) {
  const std::string name = "transformer.layer." + std::to_string(layer) + ".";
  const std::string attention = name + "attention.";
  return {attention + "q_lin",      attention + "k_lin",
          attention + "v_lin",      attention + "out_lin",
          name + "sa_layer_norm",   {name + "ffn.lin1", name + "ffn.lin2", name + "output_layer_norm"},
          /*drops_attention=*/false};
}

class DistilBert : public Family {
 public:
  ConfigDefaults defaults() const override { return {.num_hidden_layers = 6, .type_vocab_size = 0}; }
  ConfigFields fields() const override {
    return {.hidden_size = "dim",
            .num_hidden_layers = "n_layers",
            .num_attention_heads = "n_heads",
            .intermediate_size = "hidden_dim",
            .hidden_act = "activation",
            .embedding_size = {}};
  }
  void Read(ConfigReader& reader, ModelConfig& config) override {
    RequireWholeHeads(reader, config);
    config.type_vocab_size = 0;
    config.layer_norm_eps = 1e-12f;  // constant in transformers' code
    fixed_positions_ = reader.Bool("sinusoidal_pos_embds", false);
  }
  bool PositionsAreFixed() const override { return fixed_positions_; }
  std::vector<std::string> prefixes() const override { return {"distilbert."}; }

  Value Encode(Build& b, const ModelConfig& config) const override {
    return BertEncoder(b, config, {}, BertEmbeddings(b, config, {}), DistilBertLayer);
  }

  PooledHead SequenceClassifier(const ModelConfig&) const override {
    return {.transform = {.dense = "pre_classifier", .activation = Activation::kRelu}};
  }
  TokenHead SpanClassifier(const ModelConfig&) const override { return {"qa_outputs", 2, /*drops_rows=*/true}; }
  MaskedLmHead MaskedLm(const ModelConfig& config) const override {
    MaskedLmHead head;
    head.dense = {"vocab_transform"};
    head.norm = {"vocab_layer_norm"};
    head.activation = config.hidden_act;
    head.decoder = {config.tie_word_embeddings ? "embeddings.word_embeddings.weight" : "vocab_projector.weight"};
    head.bias = {"vocab_projector.bias"};
    return head;
  }

 private:
  bool fixed_positions_ = false;
};

}  // namespace

std::unique_ptr<Family> CreateDistilBert() { return std::make_unique<DistilBert>(); }

}  // namespace peruse
