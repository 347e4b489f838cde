#include "core/backend/webgpu/pair.h"

namespace peruse::webgpu {
namespace {

void RecordGate(Recording& r, const ops::Multiply& op) {
  const Recording::View x = r.Operand(op.x, op.out);
  Recording::View y = r.Operand(op.y, op.out);
  if (r.failed()) return;
  if (r.at(op.y).rows == 1) y.place.stride = 0;
  const Tensor size = r.at(op.out);
  const Recording::View out = r.Of(op.out);
  const GateParams params = {
      static_cast<uint32_t>(size.rows),    static_cast<uint32_t>(size.cols), x.place, y.place, out.place,
      static_cast<uint32_t>(op.activation)};
  r.recorder().Dispatch("gate", {}, params, {x.buffer, y.buffer, out.buffer},
                        r.Elementwise(int64_t{size.rows} * size.cols));
}

}  // namespace

template <>
void Record(Recording& r, const ops::Multiply& op) {
  if (op.activation != Activation::kNone) return RecordGate(r, op);
  RecordPair(r, op.x, op.y, /*multiply=*/true, op.out);
}

template <>
void Expect(Recording& r, const Program&, const ops::Multiply& op) {
  if (op.activation != Activation::kNone) return r.recorder().Expect("gate", {});
  r.recorder().Expect("pair", PairConstants(true));
}

}  // namespace peruse::webgpu
