#include <algorithm>

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::RmsNorm& op) {
  const Recording::View x = r.Operand(op.x, op.out);
  const Tensor size = r.at(op.out);
  if (r.failed() || size.rows == 0) return;
  const Recording::View out = r.Of(op.out), weight = r.Of(op.weight);
  const auto width = static_cast<uint32_t>(r.at(op.weight).cols);
  const uint32_t blocks = static_cast<uint32_t>(size.cols) / width;
  const uint32_t all = static_cast<uint32_t>(size.rows) * blocks;
  const RmsNormParams params = {all, blocks, width, op.eps, op.offset, x.place, weight.place.first, out.place};
  r.recorder().Dispatch(r.BySubgroups("rms_norm", "rms_norm_subgroups"), {}, params,
                        {x.buffer, weight.buffer, out.buffer},
                        {std::min(all, r.recorder().limits().workgroups_per_dimension), 1, 1});
}

template <>
void Expect(Recording& r, const Program&, const ops::RmsNorm&) {
  r.recorder().Expect(r.BySubgroups("rms_norm", "rms_norm_subgroups"), {});
}

}  // namespace peruse::webgpu
