#include "core/backend/webgpu/layer_norm.h"

#include <algorithm>

namespace peruse::webgpu {

void Normalise(Recording& r, const Recording::View& x, const Recording::View* y, const NormArgs& norm, Tensor out) {
  const Recording::View result = r.Of(out);
  const Recording::View weight = r.Of(norm.weight);
  const Recording::View bias = r.Of(norm.bias);
  const NormParams params = {static_cast<uint32_t>(out.rows),
                             static_cast<uint32_t>(out.cols),
                             norm.eps,
                             x.place,
                             y != nullptr ? y->place : Place(),
                             weight.place.first,
                             bias.place.first,
                             result.place,
                             y != nullptr};
  const auto rows = static_cast<uint32_t>(out.rows);
  r.recorder().Dispatch("norm", {}, params,
                        {x.buffer, y != nullptr ? y->buffer : x.buffer, weight.buffer, bias.buffer, result.buffer},
                        {std::min(rows, r.recorder().limits().workgroups_per_dimension), 1, 1});
}

void Record(Recording& r, const ops::LayerNorm& op) {
  const Recording::View x = r.Operand(op.x, op.out);
  const Recording::View y = op.residual.valid() ? r.Operand(op.residual, op.out) : Recording::View();
  if (r.failed()) return;
  Normalise(r, x, op.residual.valid() ? &y : nullptr, op.norm, r.at(op.out));
}

void Expect(Recording& r, const Program&, const ops::LayerNorm&) { r.recorder().Expect("norm", {}); }

}  // namespace peruse::webgpu
