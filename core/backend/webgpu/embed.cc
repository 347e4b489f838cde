#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

// The host computes the sums, because embedding tables are in its memory, and uploads them.
template <>
void Record(Recording& r, const ops::Embed& op) {
  r.Upload(op.out, [&](float* room) { r.SumRows(op, room, r.at(op.out).cols); });
}

// Announces nothing: at most the copy pipeline is needed, which the first call compiles.
template <>
void Expect(Recording&, const Program&, const ops::Embed&) {}

}  // namespace peruse::webgpu
