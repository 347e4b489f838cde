#include <algorithm>

#include "core/backend/webgpu/linear.h"

namespace peruse::webgpu {

void ExpectNorm(Recording& r) { r.recorder().Expect(r.BySubgroups("norm", "norm_subgroups"), {}); }

void Normalise(Recording& r, const NormSum& sum, const NormArgs& norm, Tensor out) {
  const Recording::View result = r.Of(out);
  const Recording::View weight = r.Of(norm.weight);
  const Recording::View bias = norm.bias.valid() ? r.Of(norm.bias) : weight;
  const Recording::View y = sum.y != nullptr ? *sum.y : Recording::View{sum.x.buffer, {}};
  const bool has_slice_bias = sum.slice_bias != Recorder::kNoBuffer;
  const auto rows = static_cast<uint32_t>(out.rows);
  const NormParams params = {rows,
                             static_cast<uint32_t>(out.cols),
                             norm.eps,
                             sum.x.place,
                             y.place,
                             weight.place.first,
                             bias.place.first,
                             result.place,
                             sum.y != nullptr,
                             static_cast<uint32_t>(sum.slices),
                             rows * sum.x.place.stride,
                             has_slice_bias,
                             norm.bias.valid()};
  r.recorder().Dispatch(r.BySubgroups("norm", "norm_subgroups"), {}, params,
                        {sum.x.buffer, y.buffer, weight.buffer, bias.buffer,
                         has_slice_bias ? sum.slice_bias : bias.buffer, result.buffer},
                        {std::min(rows, r.recorder().limits().workgroups_per_dimension), 1, 1});
}

template <>
void Record(Recording& r, const ops::LayerNorm& op) {
  const Recording::View x = r.Operand(op.x, op.out);
  const Recording::View y = op.residual.valid() ? r.Operand(op.residual, op.out) : Recording::View();
  if (r.failed()) return;
  Normalise(r, {.x = x, .y = op.residual.valid() ? &y : nullptr}, op.norm, r.at(op.out));
}

template <>
void Expect(Recording& r, const Program&, const ops::LayerNorm&) {
  ExpectNorm(r);
}

}  // namespace peruse::webgpu
