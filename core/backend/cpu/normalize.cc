#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::Normalize& op) {
  const Block x = r.View(op.x);
  const Block out = r.View(op.out);
  r.pool().ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) NormalizeRow(x.row(row), x.cols, op.eps, out.row(row));
  });
  return OkStatus();
}

}  // namespace peruse::cpu
