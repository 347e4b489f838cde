// Rotary position embeddings. The host computes angles, because WGSL's sine is inaccurate far from zero; the GPU rotates.
#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::RotaryAngles& op) {
  const int32_t head_dim = r.at(op.out).cols;
  r.Upload(op.out, [&](float* room) { ops::FillAngles(op, r.at(op.positions), head_dim, room, head_dim); });
}

template <>
void Expect(Recording&, const Program&, const ops::RotaryAngles&) {}

template <>
void Record(Recording& r, const ops::Rotate& op) {
  const Recording::View x = r.Operand(op.x, op.out);
  const Recording::View angles = r.Operand(op.angles, op.out);
  const Tensor size = r.at(op.out);
  if (r.failed() || size.rows == 0) return;
  const Recording::View out = r.Of(op.out);
  const RotateParams params = {static_cast<uint32_t>(size.rows),
                               static_cast<uint32_t>(size.cols),
                               static_cast<uint32_t>(r.at(op.angles).cols / 2),
                               x.place,
                               angles.place,
                               out.place};
  r.recorder().Dispatch("rotate", {}, params, {x.buffer, angles.buffer, out.buffer},
                        r.Elementwise(int64_t{size.rows} * size.cols));
}

template <>
void Expect(Recording& r, const Program&, const ops::Rotate&) {
  r.recorder().Expect("rotate", {});
}

}  // namespace peruse::webgpu
