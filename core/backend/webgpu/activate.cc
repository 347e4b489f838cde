#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::Activate& op) {
  const Recording::View x = r.Operand(op.x, op.out);
  if (r.failed()) return;
  const Tensor size = r.at(op.out);
  const Recording::View out = r.Of(op.out);
  const ActivateParams params = {static_cast<uint32_t>(size.rows), static_cast<uint32_t>(size.cols), x.place, out.place,
                                 static_cast<uint32_t>(op.activation)};
  r.recorder().Dispatch("activate", {}, params, {x.buffer, out.buffer}, r.Elementwise(int64_t{size.rows} * size.cols));
}

template <>
void Expect(Recording&, const Program&, const ops::Activate&) {}

}  // namespace peruse::webgpu
