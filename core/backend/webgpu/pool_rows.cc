#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::PoolRows& op) {
  const std::span<const int32_t> begins = r.at(op.begins);
  const std::span<const int32_t> counts = r.at(op.counts);
  if (begins.empty()) return;
  const Recording::View x = r.Operand(op.x, op.out);
  const int32_t begin = r.UploadInts(begins, static_cast<int32_t>(begins.size()));
  const int32_t count = r.UploadInts(counts, static_cast<int32_t>(counts.size()));
  if (r.failed()) return;
  const Tensor size = r.at(op.out);
  const Recording::View out = r.Of(op.out);
  const PoolRowsParams params = {static_cast<uint32_t>(size.rows),
                                 static_cast<uint32_t>(size.cols),
                                 static_cast<uint32_t>(r.at(op.x).cols / size.cols),
                                 static_cast<uint32_t>(op.stride),
                                 static_cast<uint32_t>(op.kind),
                                 x.place,
                                 out.place};
  r.recorder().Dispatch("pool_rows", {}, params, {x.buffer, begin, count, out.buffer},
                        r.Elementwise(int64_t{size.rows} * size.cols));
  r.GiveBack(begin);
  r.GiveBack(count);
}

template <>
void Expect(Recording& r, const Program&, const ops::PoolRows&) {
  r.recorder().Expect("pool_rows", {});
}

}  // namespace peruse::webgpu
