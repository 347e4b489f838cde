#include <algorithm>
#include <cmath>

#include "core/backend/cpu/runner.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {

using namespace simd;

template <>
Status Run(Runner& r, const ops::Normalize& op) {
  const Block x = r.View(op.x);
  const Block out = r.View(op.out);
  r.pool().ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      const float* const from = x.row(row);
      Floats sums = hn::Zero(kTag);
      int64_t i = 0;
      for (; i + kLanes <= x.cols; i += kLanes) sums = Madd(Load(from + i), Load(from + i), sums);
      float sum = hn::ReduceSum(kTag, sums);
      for (; i < x.cols; ++i) sum += from[i] * from[i];
      const Floats length = Set(std::max(std::sqrt(sum), op.eps));
      Map(from, out.row(row), x.cols, [&](Floats v) { return hn::Div(v, length); });
    }
  });
  return OkStatus();
}

}  // namespace peruse::cpu
