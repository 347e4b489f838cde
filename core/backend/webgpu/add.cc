#include "core/backend/webgpu/pair.h"

namespace peruse::webgpu {

void RecordPair(Recording& r, Value x, Value y, bool multiply, Value out) {
  const Recording::View first = r.Operand(x, out);
  Recording::View second = r.Operand(y, out);
  if (r.failed()) return;
  if (r.at(y).rows == 1) second.place.stride = 0;
  const Tensor size = r.at(out);
  const Recording::View result = r.Of(out);
  const PairParams params = {static_cast<uint32_t>(size.rows), static_cast<uint32_t>(size.cols), first.place,
                             second.place, result.place};
  r.recorder().Dispatch("pair", PairConstants(multiply), params, {first.buffer, second.buffer, result.buffer},
                        r.Elementwise(int64_t{size.rows} * size.cols));
}

template <>
void Record(Recording& r, const ops::Add& op) {
  RecordPair(r, op.x, op.y, /*multiply=*/false, op.out);
}
template <>
void Expect(Recording& r, const Program&, const ops::Add&) {
  r.recorder().Expect("pair", PairConstants(false));
}

}  // namespace peruse::webgpu
