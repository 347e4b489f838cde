// The embedding block: word, position and segment rows added up, layer norm, projection to the hidden size.
//
//   BertEmbeddings, ElectraEmbeddings + embeddings_project, ConvBertEmbeddings + embeddings_project, DebertaEmbeddings
#pragma once

#include <cstdint>
#include <span>

#include "core/backend/backend.h"
#include "core/models/config.h"
#include "core/models/float_buffer.h"
#include "core/tensor/ragged_batch.h"
#include "core/weights/binder.h"
#include "core/weights/embedding_table.h"

namespace peruse {

struct ModelInput;

class Embeddings {
 public:
  explicit Embeddings(const ModelConfig& config) : config_(config) {}

  void Declare(Binder& binder);
  // out: [rows, hidden_size]. Inputs are checked already. kOutOfMemory.
  Status Forward(Backend& backend, std::span<const ModelInput> inputs, const RaggedBatch& batch, Tensor out);

  // Bytes held in host memory.
  int64_t bytes() const { return word_.bytes() + position_.bytes() + type_.bytes(); }

 private:
  // sums_ = the rows' word, position and segment embeddings
  void AddRows(std::span<const ModelInput> inputs);

  bool has_positions() const {
    return config_.is_deberta() ? config_.deberta.position_biased_input
                                : config_.position_type == PositionType::kAbsolute;
  }
  bool has_types() const { return config_.type_vocab_size > 0; }
  bool has_projection() const { return config_.embedding_size != config_.hidden_size; }

  const ModelConfig& config_;
  EmbeddingTable word_;      // [vocab, embedding]
  EmbeddingTable position_;  // [max positions, embedding]
  EmbeddingTable type_;      // [types, embedding]
  Norm norm_;                // over embedding; over hidden for DeBERTa, whose norm follows the projection
  Weight projection_;        // embedding -> hidden
  FloatBuffer sums_;         // [rows, embedding]
};

}  // namespace peruse
