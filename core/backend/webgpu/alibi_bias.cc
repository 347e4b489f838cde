// ops::AlibiBias: the host computes the table of attention biases and uploads it.
#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::AlibiBias& op) {
  const Tensor size = r.at(op.out);
  r.Upload(op.out, [&](float* room) { ops::FillBiases(op, size.rows, size.cols, room, size.cols); });
}

template <>
void Expect(Recording&, const Program&, const ops::AlibiBias&) {}

}  // namespace peruse::webgpu
