// Masked-language-model heads: a transform of the hidden state, then a score for every word of the vocabulary.
#include <string>

#include "core/models/heads.h"

namespace peruse {
namespace {

// logits = norm(act(dense(hidden))) decoder^T + bias
//   BertLMPredictionHead, LegacyDebertaLMPredictionHead        cls.predictions
//   DebertaLMPredictionHead (the original code's layout)       lm_predictions.lm_head
//   ElectraGeneratorPredictions, ConvBertGeneratorPredictions  generator_predictions, generator_lm_head
class MaskedLmHead : public HeadLayer {
 public:
  explicit MaskedLmHead(const ModelConfig& config) : config_(config) {}

  void Declare(Binder& binder) override {
    switch (config_.architecture) {
      case Architecture::kConvBert:
      case Architecture::kElectra:
      case Architecture::kLightConv:
      case Architecture::kDynamicConv:
        DeclareGenerator(binder);
        break;
      case Architecture::kBert:
        DeclarePredictions(binder);
        break;
      case Architecture::kDeberta:
      case Architecture::kDebertaV2:
        if (UsesOriginalLayout(binder)) {
          DeclareOriginal(binder);
        } else {
          DeclarePredictions(binder);
        }
        break;
    }
  }

  int32_t logit_cols() const override { return config_.vocab_size; }

  void Forward(Backend& backend, Tensor hidden, const RaggedBatch&, Tensor logits) override {
    const int32_t width = config_.embedding_size;
    Scope scope(backend);
    const Tensor dense = backend.New(hidden.rows, width);
    backend.Linear(hidden, dense_, activation_, dense);
    const Tensor transformed = backend.New(hidden.rows, width);
    backend.LayerNorm(dense, norm_, transformed);
    backend.Linear(transformed, decoder_, Activation::kNone, logits);
  }

 private:
  // Spec: deberta.md D5. The official checkpoints hold only the original layout, whatever `legacy` says.
  bool UsesOriginalLayout(const Binder& binder) const {
    const bool original = binder.Has("lm_predictions.lm_head.dense.weight");
    const bool legacy = binder.Has("cls.predictions.transform.dense.weight");
    return original != legacy ? original : !config_.deberta.legacy;
  }

  void DeclareTransform(Binder& binder, const std::string& dense, const std::string& norm, Activation activation) {
    activation_ = activation;
    binder.LinearF32(dense, config_.hidden_size, config_.embedding_size, &dense_);
    binder.LayerNorm(norm, config_.embedding_size, config_.layer_norm_eps, &norm_);
  }

  // tied: the word embeddings are the decoder.
  void DeclareDecoder(Binder& binder, const std::string& weight, const std::string& bias, bool tied) {
    const int32_t vocab = config_.vocab_size;
    binder.Stack(config_.embedding_size, &decoder_)
        .AddWeight(tied ? "embeddings.word_embeddings.weight" : weight, {vocab, config_.embedding_size}, vocab)
        .AddBias(bias, {vocab}, 0, vocab);
  }

  void DeclareGenerator(Binder& binder) {
    // Exact gelu, whatever hidden_act says.
    DeclareTransform(binder, "generator_predictions.dense", "generator_predictions.LayerNorm", Activation::kGelu);
    DeclareDecoder(binder, "generator_lm_head.weight", "generator_lm_head.bias", config_.tie_word_embeddings);
  }

  void DeclarePredictions(Binder& binder) {
    DeclareTransform(binder, "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                     config_.hidden_act);
    // decoder.bias is the same vector; some files have only that.
    const bool own_bias = binder.Has("cls.predictions.bias") || !binder.Has("cls.predictions.decoder.bias");
    DeclareDecoder(binder, "cls.predictions.decoder.weight",
                   own_bias ? "cls.predictions.bias" : "cls.predictions.decoder.bias", config_.tie_word_embeddings);
  }

  void DeclareOriginal(Binder& binder) {
    DeclareTransform(binder, "lm_predictions.lm_head.dense", "lm_predictions.lm_head.LayerNorm", config_.hidden_act);
    DeclareDecoder(binder, "", "lm_predictions.lm_head.bias", true);
  }

  const ModelConfig& config_;
  Weight dense_;  // hidden -> embedding
  Activation activation_ = Activation::kNone;
  Norm norm_;
  Weight decoder_;  // embedding -> vocab
};

}  // namespace

std::unique_ptr<HeadLayer> CreateMaskedLmHead(const ModelConfig& config) {
  return std::make_unique<MaskedLmHead>(config);
}

}  // namespace peruse
