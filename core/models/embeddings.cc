#include "core/models/embeddings.h"

#include <algorithm>

#include "core/models/model.h"

namespace peruse {

void Embeddings::Declare(Binder& binder) {
  const int32_t width = config_.embedding_size;
  binder.WordEmbedding("embeddings.word_embeddings.weight", config_.vocab_size, width, &word_);
  if (has_positions()) {
    binder.Embedding("embeddings.position_embeddings.weight", config_.max_position_embeddings, width, &position_);
  }
  if (has_types()) binder.Embedding("embeddings.token_type_embeddings.weight", config_.type_vocab_size, width, &type_);
  binder.LayerNorm("embeddings.LayerNorm", config_.is_deberta() ? config_.hidden_size : width, config_.layer_norm_eps,
                   &norm_);
  if (!has_projection()) return;
  if (config_.is_deberta()) {
    binder.Stack(width, &projection_)
        .AddWeight("embeddings.embed_proj.weight", {config_.hidden_size, width}, config_.hidden_size);
  } else {
    binder.Linear("embeddings_project", width, config_.hidden_size, &projection_);
  }
}

void Embeddings::AddRows(std::span<const ModelInput> inputs) {
  const size_t width = static_cast<size_t>(config_.embedding_size);
  std::span<float> rows = sums_.values();
  std::fill(rows.begin(), rows.end(), 0.0f);
  for (const ModelInput& input : inputs) {
    for (size_t t = 0; t < input.ids.size(); ++t) {
      const std::span<float> row = rows.first(width);
      word_.AddRow(input.ids[t], row);
      if (has_positions()) position_.AddRow(static_cast<int32_t>(t), row);
      if (has_types()) type_.AddRow(input.type_ids.empty() ? 0 : input.type_ids[t], row);
      rows = rows.subspan(width);
    }
  }
}

Status Embeddings::Forward(Backend& backend, std::span<const ModelInput> inputs, const RaggedBatch& batch, Tensor out) {
  PERUSE_RETURN_IF_ERROR(sums_.Resize(static_cast<size_t>(batch.rows()) * static_cast<size_t>(config_.embedding_size)));
  AddRows(inputs);
  Scope scope(backend);
  const Tensor sums = backend.New(batch.rows(), config_.embedding_size);  // [rows, embedding]
  backend.Upload(sums_.values(), sums);
  if (!has_projection()) {
    backend.LayerNorm(sums, norm_, out);
    return OkStatus();
  }
  const bool norm_last = config_.is_deberta();
  const Tensor between = backend.New(batch.rows(), norm_last ? config_.hidden_size : config_.embedding_size);
  if (norm_last) {
    backend.Linear(sums, projection_, Activation::kNone, between);
    backend.LayerNorm(between, norm_, out);
  } else {
    backend.LayerNorm(sums, norm_, between);
    backend.Linear(between, projection_, Activation::kNone, out);
  }
  return OkStatus();
}

}  // namespace peruse
