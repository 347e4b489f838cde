#include "core/models/bert.h"

#include <cmath>

#include "core/models/layer_loop.h"

namespace peruse {

BertEncoder::BertEncoder(const ModelConfig& config)
    : config_(config), layers_(static_cast<size_t>(config.num_hidden_layers)) {}

void BertEncoder::Declare(Binder& binder) {
  const int32_t hidden = config_.hidden_size;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const std::string name = "encoder.layer." + std::to_string(i) + ".";
    const std::string self = name + "attention.self.";
    Layer& layer = layers_[i];
    binder.Stack(hidden, &layer.query_key_value)
        .Add(self + "query", hidden)
        .Add(self + "key", hidden)
        .Add(self + "value", hidden);
    binder.Linear(name + "attention.output.dense", hidden, hidden, &layer.attention_output);
    binder.LayerNorm(name + "attention.output.LayerNorm", hidden, config_.layer_norm_eps, &layer.attention_norm);
    layer.feed_forward.Declare(binder, name, config_, 1);
  }
}

void BertEncoder::SelfAttention(Backend& backend, const Layer& layer, Tensor x, const RaggedBatch& batch,
                                Inspection& inspection, Tensor out) {
  const int32_t hidden = config_.hidden_size;
  const int32_t heads = config_.num_attention_heads;
  Scope scope(backend);

  // BertSelfAttention
  const Tensor projected = backend.New(batch.rows(), 3 * hidden);
  backend.Linear(x, layer.query_key_value, Activation::kNone, projected);
  const Tensor query = projected.Columns(0, hidden);
  const Tensor key = projected.Columns(hidden, hidden);
  const Tensor value = projected.Columns(2 * hidden, hidden);
  const Tensor context = backend.New(batch.rows(), hidden);
  const Tensor probabilities = inspection.NewAttention(backend, batch, heads);
  const float scale = 1.0f / std::sqrt(static_cast<float>(hidden / heads));
  backend.Attention({query, key, value, heads, scale, probabilities}, batch, context);
  inspection.KeepAttention(backend, probabilities);

  // BertSelfOutput
  backend.LinearAddNorm(context, layer.attention_output, x, layer.attention_norm, out);
}

void BertEncoder::Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection, Tensor out) {
  RunLayers(backend, config_.num_hidden_layers, x, out, inspection, [&](int32_t i, Tensor input, Tensor output) {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    Scope scope(backend);
    const Tensor attended = backend.New(batch.rows(), config_.hidden_size);
    SelfAttention(backend, layer, input, batch, inspection, attended);
    layer.feed_forward.Forward(backend, attended, config_.hidden_act, output);
  });
}

}  // namespace peruse
