#include "core/cpu/pool_rows.h"

#include "core/backend/cpu/runner.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::PoolRows& op) {
  const Block x = r.View(op.x);
  const Block out = r.View(op.out);
  r.pool().ForRows(out.rows, kLeastRows, [&](int64_t first, int64_t end) {
    PoolRows(op, r.at(op.begins), r.at(op.counts), x, first, end, out);
  });
  return OkStatus();
}

}  // namespace peruse::cpu
