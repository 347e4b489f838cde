#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::RmsNorm& op) {
  const Block x = r.View(op.x), weight = r.View(op.weight), out = r.View(op.out);
  r.pool().ForRows(x.rows, 8, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      for (int64_t c = 0; c < x.cols; c += weight.cols) {
        RmsNormRow(x.row(row) + c, weight.data, op.offset, op.eps, weight.cols, out.row(row) + c);
      }
    }
  });
  return OkStatus();
}

}  // namespace peruse::cpu
