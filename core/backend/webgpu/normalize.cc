#include <algorithm>

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

template <>
void Record(Recording& r, const ops::Normalize& op) {
  const Recording::View x = r.Operand(op.x, op.out);
  const Tensor size = r.at(op.out);
  if (r.failed() || size.rows == 0) return;
  const Recording::View out = r.Of(op.out);
  const auto rows = static_cast<uint32_t>(size.rows);
  const NormalizeParams params = {rows, static_cast<uint32_t>(size.cols), op.eps, x.place, out.place};
  r.recorder().Dispatch(r.BySubgroups("normalize", "normalize_subgroups"), {}, params, {x.buffer, out.buffer},
                        {std::min(rows, r.recorder().limits().workgroups_per_dimension), 1, 1});
}

template <>
void Expect(Recording& r, const Program&, const ops::Normalize&) {
  r.recorder().Expect(r.BySubgroups("normalize", "normalize_subgroups"), {});
}

}  // namespace peruse::webgpu
