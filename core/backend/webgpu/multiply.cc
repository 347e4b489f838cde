#include "core/backend/webgpu/pair.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::Multiply& op) {
  RecordPair(r, {.x = op.x, .y = op.y, .out = op.out, .multiply = true, .activation = op.activation});
}

template <>
void Expect(Recording& r, const Program&, const ops::Multiply&) {
  r.recorder().Expect("pair", PairConstants(true));
}

}  // namespace peruse::webgpu
