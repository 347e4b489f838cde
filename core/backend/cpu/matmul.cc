#include <algorithm>

#include "core/backend/cpu/runner.h"
#include "core/cpu/gemm.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::MatMul& op) {
  const Block x = r.View(op.x);
  const Block y = r.View(op.y);
  const Block out = r.View(op.out);
  const int64_t floats = PackedFloats(x.cols, y.rows);
  const Scratch scratch(r, floats * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return NoWorkspace();
  std::fill_n(scratch.floats(), floats, 0.0f);
  PackColumns(y.data, y.stride, x.cols, 0, y.rows, scratch.floats());
  r.pool().ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    Gemm(x.row(first), x.stride, end - first, x.cols, scratch.floats(), y.rows, out.row(first), out.stride);
  });
  return OkStatus();
}

}  // namespace peruse::cpu
