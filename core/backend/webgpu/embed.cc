#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

// The host computes the sums, because the tables are in host memory.
template <>
void Record(Recording& r, const ops::Embed& op) {
  r.Upload(op.out, [&](float* room) { r.SumRows(op, room, r.at(op.out).cols); });
}

// Needs at most the copy pipeline, which the first call compiles.
template <>
void Expect(Recording&, const Program&, const ops::Embed&) {}

}  // namespace peruse::webgpu
