#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

// The tables stay with the host.
void Record(Recording& r, const ops::Embed& op) {
  r.Upload(op.out, [&](float* room) { r.SumRows(op, room, r.at(op.out).cols); });
}

}  // namespace peruse::webgpu
