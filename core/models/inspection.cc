#include "core/models/inspection.h"

#include <utility>

#include "core/models/model.h"

namespace peruse {

void Inspection::Begin(const RunOptions& options) {
  status_ = OkStatus();
  wants_hidden_states_ = options.hidden_states;
  wants_attentions_ = options.attentions;
  wants_span_kernels_ = options.span_kernels;
  hidden_states_.clear();
  attentions_.clear();
  span_kernels_.clear();
}

void Inspection::Keep(Backend& backend, Tensor x, Matrices& matrices) {
  if (!x.valid()) return;
  FloatBuffer values;
  if (Status status = values.Resize(static_cast<size_t>(x.rows) * static_cast<size_t>(x.cols)); !status.ok()) {
    status_ = std::move(status);
    return;
  }
  backend.Download(x, values.values());
  matrices.push_back(std::move(values));  // the floats stay where they are
}

void Inspection::HiddenState(Backend& backend, Tensor x) {
  if (wants_hidden_states_) Keep(backend, x, hidden_states_);
}

Tensor Inspection::NewAttention(Backend& backend, const RaggedBatch& batch, int32_t heads) {
  if (!wants_attentions_) return Tensor();
  return backend.New(batch.rows() * heads, batch.longest());
}

Tensor Inspection::NewSpanKernel(Backend& backend, int32_t rows, int32_t cols) {
  if (!wants_span_kernels_) return Tensor();
  return backend.New(rows, cols);
}

}  // namespace peruse
