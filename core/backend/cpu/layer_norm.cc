#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

void AddNormRows(const ThreadPool& pool, const Block& x, const Block& y, const NormWeights& norm, const Block& out) {
  pool.ForRows(x.rows, 8, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      AddNormRow(x.row(r), y.data != nullptr ? y.row(r) : nullptr, x.cols, norm, out.row(r));
    }
  });
}

template <>
Status Run(Runner& r, const ops::LayerNorm& op) {
  AddNormRows(r.pool(), r.View(op.x), r.View(op.residual), r.View(op.norm), r.View(op.out));
  return OkStatus();
}

}  // namespace peruse::cpu
