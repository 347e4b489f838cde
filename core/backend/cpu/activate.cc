#include "core/backend/cpu/runner.h"
#include "core/cpu/activations.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::Activate& op) {
  const Block x = r.View(op.x);
  const Block out = r.View(op.out);
  r.pool().ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) ActivateRow(x.row(row), x.cols, op.activation, out.row(row));
  });
  return OkStatus();
}

}  // namespace peruse::cpu
