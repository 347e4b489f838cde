#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::DepthwiseConv& op) {
  const Recording::View x = r.Operand(op.x, op.out);
  const int32_t starts = r.Starts();
  if (r.failed()) return;
  const Recording::View taps = r.Of(op.taps);
  const Recording::View out = r.Of(op.out);
  const int32_t cols = r.at(op.x).cols;
  const DepthwiseConvParams params = {static_cast<uint32_t>(cols), x.place, taps.place, out.place,
                                      static_cast<uint32_t>(r.at(op.taps).rows)};
  r.recorder().Dispatch("depthwise_conv", {}, params, {starts, x.buffer, taps.buffer, out.buffer}, r.TokenGrid(cols));
}

template <>
void Expect(Recording& r, const Program&, const ops::DepthwiseConv&) {
  r.recorder().Expect("depthwise_conv", {});
}

}  // namespace peruse::webgpu
