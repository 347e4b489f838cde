#include "core/backend/cpu/runner.h"
#include "core/backend/cpu/taps.h"

namespace peruse::cpu {

template <>
Status Run(Runner& r, const ops::DepthwiseConv& op) {
  const Block x = r.View(op.x);
  const Block taps = r.View(op.taps);
  const Block out = r.View(op.out);
  r.pool().ForRows(x.rows, 8, [&](int64_t first, int64_t last) {
    ForEachRow(r.batch(), first, last, [&](int64_t t, int64_t start, int64_t end) {
      const TapRange range(t, taps.rows, start, end);
      SumTaps(x.row(range.first_row), x.stride, range.first, range.last, x.cols, out.row(t),
              [&](int64_t j, int64_t c) {  // the taps matrix is contiguous, so over-reads stay within it
                return simd::Load(taps.row(j) + c);
              });
    });
  });
  return OkStatus();
}

}  // namespace peruse::cpu
