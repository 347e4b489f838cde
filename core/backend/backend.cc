// Operations that are others in a row: what they mean for a backend that does not fuse them.
#include "core/backend/backend.h"

namespace peruse {

void Backend::LinearMultiply(Tensor x, Weight weight, Tensor y, Tensor out) {
  const Scope scope(*this);
  const Tensor projected = New(out.rows, out.cols);
  Linear(x, weight, Activation::kNone, projected);
  Multiply(projected, y, out);
}

void Backend::LinearSpanConv(Tensor x, Weight weight, Tensor values, int32_t heads, const RaggedBatch& batch,
                             Tensor out, Tensor kernels) {
  const Scope scope(*this);
  const Tensor logits = New(x.rows, weight.out);
  Linear(x, weight, Activation::kNone, logits);
  SpanConv(logits, values, heads, batch, out, kernels);
}

}  // namespace peruse
