#include "core/models/bert.h"

#include <cmath>
#include <numeric>

#include "core/models/layer_loop.h"

namespace peruse {

BertEncoder::BertEncoder(const ModelConfig& config)
    : config_(config), layers_(static_cast<size_t>(config.num_hidden_layers)) {
  if (!has_distances()) return;
  slots_.resize(2 * static_cast<size_t>(config.max_position_embeddings) - 1);
  std::iota(slots_.begin(), slots_.end(), 0);
}

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
    if (has_distances()) {
      binder.TiledConstant(self + "distance_embedding.weight", static_cast<int32_t>(slots_.size()),
                           hidden / config_.num_attention_heads, config_.num_attention_heads, &layer.distance);
    }
    binder.Linear(name + "attention.output.dense", hidden, hidden, &layer.attention_output);
    binder.LayerNorm(name + "attention.output.LayerNorm", hidden, config_.layer_norm_eps, &layer.attention_norm);
    layer.feed_forward.Declare(binder, name, config_, 1);
  }
}

void BertEncoder::SelfAttention(Backend& backend, const Layer& layer, Tensor x, const RaggedBatch& batch,
                                Inspection& inspection, std::span<const int32_t> kept, Tensor out) {
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
  const AttentionArgs args = {query, key, value, heads, scale, probabilities};
  if (has_distances()) {
    // relative_key: query . distance; relative_key_query: key . distance too (spec: bert-electra.md section 3)
    const int32_t reach = batch.longest();
    RelativePositions positions = {layer.distance, Tensor(), {}, reach};
    if (config_.position_type == PositionType::kRelativeKeyQuery) positions.position_query = layer.distance;
    positions.slots = std::span<const int32_t>(slots_).subspan(
        static_cast<size_t>(config_.max_position_embeddings - reach), 2 * static_cast<size_t>(reach) - 1);
    backend.DisentangledAttention(args, positions, batch, context);
  } else {
    backend.Attention(args, batch, context);
  }
  inspection.KeepAttention(backend, probabilities);

  // BertSelfOutput
  const Tensor residual = KeepRows(backend, x, kept);
  backend.LinearAddNorm(KeepRows(backend, context, kept), layer.attention_output, residual, layer.attention_norm, out);
}

void BertEncoder::Forward(Backend& backend, Tensor x, const RaggedBatch& batch, Inspection& inspection,
                          std::span<const int32_t> kept, Tensor out) {
  const auto forward = [&](int32_t i, Tensor input, std::span<const int32_t> rows, Tensor output) {
    const Layer& layer = layers_[static_cast<size_t>(i)];
    Scope scope(backend);
    const Tensor attended = backend.New(output.rows, config_.hidden_size);
    SelfAttention(backend, layer, input, batch, inspection, rows, attended);
    layer.feed_forward.Forward(backend, attended, config_.hidden_act, output);
  };
  RunLayers(backend, config_.num_hidden_layers, x, kept, out, inspection, forward);
}

}  // namespace peruse
