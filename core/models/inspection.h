// What a run keeps for people who want to look inside: hidden states, attention probabilities, span kernels.
// Costs nothing when not asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/backend/backend.h"
#include "core/models/float_buffer.h"
#include "core/tensor/ragged_batch.h"

namespace peruse {

struct RunOptions;

class Inspection {
 public:
  // Forgets the last run.
  void Begin(const RunOptions& options);

  // Each is called once a layer (and HiddenState once before the first).
  void HiddenState(Backend& backend, Tensor x);
  // A place for the operation to put its probabilities or kernels; not valid unless asked for.
  Tensor NewAttention(Backend& backend, const RaggedBatch& batch, int32_t heads);
  Tensor NewSpanKernel(Backend& backend, int32_t rows, int32_t cols);
  // After the operation.
  void KeepAttention(Backend& backend, Tensor probabilities) { Keep(backend, probabilities, attentions_); }
  void KeepSpanKernel(Backend& backend, Tensor kernels) { Keep(backend, kernels, span_kernels_); }

  // Whether there was memory for everything.
  const Status& status() const { return status_; }

  using Matrices = std::vector<FloatBuffer>;
  const Matrices& hidden_states() const { return hidden_states_; }
  const Matrices& attentions() const { return attentions_; }
  const Matrices& span_kernels() const { return span_kernels_; }

 private:
  void Keep(Backend& backend, Tensor x, Matrices& matrices);

  Status status_;
  bool wants_hidden_states_ = false;
  bool wants_attentions_ = false;
  bool wants_span_kernels_ = false;
  Matrices hidden_states_;
  Matrices attentions_;
  Matrices span_kernels_;
};

}  // namespace peruse
