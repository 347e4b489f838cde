#include "core/backend/cpu/runner.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {

using namespace simd;

template <>
Status Run(Runner& r, const ops::Add& op) {
  const Block x = r.View(op.x);
  const Block y = r.View(op.y);
  const Block out = r.View(op.out);
  r.pool().ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      Map2(x.row(row), y.row(y.rows == 1 ? 0 : row), out.row(row), x.cols,
           [](Floats a, Floats b) { return hn::Add(a, b); });
    }
  });
  return OkStatus();
}

}  // namespace peruse::cpu
