#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::Lstm& op) {
  const Recording::View gates = r.Operand(op.gates, op.out);
  if (r.failed()) return;
  const Recording::View recurrent = r.Of(op.recurrent);
  const Recording::View bias = r.Of(op.bias);
  const Tensor size = r.at(op.out);
  constexpr int32_t kMostColumns = 1024;
  if (size.cols > kMostColumns) {
    return r.Fail(Unsupported("an LSTM of " + std::to_string(size.cols) + " columns does not run on the GPU"));
  }
  const Recording::View out = r.Of(op.out);
  const LstmParams params = {static_cast<uint32_t>(size.rows),
                             static_cast<uint32_t>(size.cols),
                             op.reverse ? 1u : 0u,
                             gates.place,
                             recurrent.place,
                             bias.place.first,
                             out.place};
  r.recorder().Dispatch("lstm", {}, params, {gates.buffer, recurrent.buffer, bias.buffer, out.buffer}, {});
}

template <>
void Expect(Recording& r, const Program&, const ops::Lstm&) {
  r.recorder().Expect("lstm", {});
}

}  // namespace peruse::webgpu
