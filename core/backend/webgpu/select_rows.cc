#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::SelectRows& op) {
  const std::span<const int32_t> rows = r.at(op.rows);
  if (rows.empty()) return;
  const Recording::View x = r.Operand(op.x, op.out);
  const int32_t indices = r.UploadInts(rows, static_cast<int32_t>(rows.size()));
  if (r.failed()) return;
  const Tensor size = r.at(op.out);
  const Recording::View out = r.Of(op.out);
  const SelectRowsParams params = {static_cast<uint32_t>(size.rows), static_cast<uint32_t>(size.cols), x.place,
                                   out.place};
  r.recorder().Dispatch("select_rows", {}, params, {x.buffer, indices, out.buffer},
                        r.Elementwise(int64_t{size.rows} * size.cols));
  r.GiveBack(indices);
}

template <>
void Expect(Recording& r, const Program&, const ops::SelectRows&) {
  r.recorder().Expect("select_rows", {});
}

}  // namespace peruse::webgpu
