// Replaced-token detection: for every token one logit, positive where the token was replaced.
#include "core/models/heads.h"

namespace peruse {
namespace {

// ElectraDiscriminatorPredictions: dense_prediction(act(dense(hidden)))
class ElectraDiscriminator : public HeadLayer {
 public:
  explicit ElectraDiscriminator(const ModelConfig& config) : config_(config) {}

  void Declare(Binder& binder) override {
    binder.LinearF32("discriminator_predictions.dense", config_.hidden_size, config_.hidden_size, &dense_);
    binder.LinearF32("discriminator_predictions.dense_prediction", config_.hidden_size, 1, &prediction_);
  }
  int32_t logit_cols() const override { return 1; }
  void Forward(Backend& backend, Tensor hidden, const RaggedBatch& batch, Tensor logits) override {
    Scope scope(backend);
    const Tensor dense = backend.New(batch.rows(), config_.hidden_size);
    backend.Linear(hidden, dense_, config_.hidden_act, dense);
    backend.Linear(dense, prediction_, Activation::kNone, logits);
  }

 private:
  const ModelConfig& config_;
  Weight dense_;
  Weight prediction_;
};

// The original DeBERTa v3 code's mask_predictions (spec: deberta.md D7):
// classifier(act(dense(norm(hidden + first token's hidden))))
class DebertaDiscriminator : public HeadLayer {
 public:
  explicit DebertaDiscriminator(const ModelConfig& config) : config_(config) {}

  void Declare(Binder& binder) override {
    binder.LinearF32("mask_predictions.dense", config_.hidden_size, config_.hidden_size, &dense_);
    binder.LayerNorm("mask_predictions.LayerNorm", config_.hidden_size, config_.layer_norm_eps, &norm_);
    binder.LinearF32("mask_predictions.classifier", config_.hidden_size, 1, &classifier_);
  }
  int32_t logit_cols() const override { return 1; }
  void Forward(Backend& backend, Tensor hidden, const RaggedBatch& batch, Tensor logits) override {
    first_rows_.clear();
    for (int32_t s = 0; s < batch.sequences(); ++s) {
      first_rows_.insert(first_rows_.end(), static_cast<size_t>(batch.length(s)), batch.start(s));
    }
    Scope scope(backend);
    const Tensor first = backend.New(batch.rows(), config_.hidden_size);
    backend.SelectRows(hidden, first_rows_, first);
    const Tensor normed = backend.New(batch.rows(), config_.hidden_size);
    backend.AddNorm(hidden, first, norm_, normed);
    const Tensor dense = backend.New(batch.rows(), config_.hidden_size);
    backend.Linear(normed, dense_, config_.hidden_act, dense);
    backend.Linear(dense, classifier_, Activation::kNone, logits);
  }

 private:
  const ModelConfig& config_;
  Weight dense_;
  Norm norm_;
  Weight classifier_;
  std::vector<int32_t> first_rows_;  // of the run: each row's text's first
};

}  // namespace

std::unique_ptr<HeadLayer> CreateReplacedTokenHead(const ModelConfig& config) {
  if (config.is_deberta()) return std::make_unique<DebertaDiscriminator>(config);
  return std::make_unique<ElectraDiscriminator>(config);
}

}  // namespace peruse
