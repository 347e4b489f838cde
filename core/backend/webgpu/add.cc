#include "core/backend/webgpu/pair.h"

namespace peruse::webgpu {

void RecordPair(Recording& r, const Pair& pair) {
  const Recording::View x = r.Operand(pair.x, pair.out);
  Recording::View y = r.Operand(pair.y, pair.out);
  if (r.failed()) return;
  if (r.at(pair.y).rows == 1) y.place.stride = 0;
  const Tensor size = r.at(pair.out);
  const Recording::View out = r.Of(pair.out);
  const PairParams params = {
      static_cast<uint32_t>(size.rows),      static_cast<uint32_t>(size.cols), x.place, y.place, out.place,
      static_cast<uint32_t>(pair.activation)};
  r.recorder().Dispatch("pair", PairConstants(pair.multiply), params, {x.buffer, y.buffer, out.buffer},
                        r.Elementwise(int64_t{size.rows} * size.cols));
}

template <>
void Record(Recording& r, const ops::Add& op) {
  RecordPair(r, {.x = op.x, .y = op.y, .out = op.out});
}
template <>
void Expect(Recording& r, const Program&, const ops::Add&) {
  r.recorder().Expect("pair", PairConstants(false));
}

}  // namespace peruse::webgpu
