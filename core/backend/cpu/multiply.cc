#include "core/backend/cpu/runner.h"
#include "core/cpu/activations.h"
#include "core/cpu/simd.h"

namespace peruse::cpu {

using namespace simd;

void MultiplyBlocks(const ThreadPool& pool, const Block& x, const Block& y, const Block& out) {
  pool.ForRows(x.rows, kLeastRows, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      Map2(x.row(r), y.row(y.rows == 1 ? 0 : r), out.row(r), x.cols, [](Floats a, Floats b) { return hn::Mul(a, b); });
    }
  });
}

template <>
Status Run(Runner& r, const ops::Multiply& op) {
  const Block x = r.View(op.x), y = r.View(op.y), out = r.View(op.out);
  if (op.activation == Activation::kNone) {
    MultiplyBlocks(r.pool(), x, y, out);
    return OkStatus();
  }
  r.pool().ForRows(x.rows, 4, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      ActivateRow(x.row(row), x.cols, op.activation, out.row(row));
      Map2(out.row(row), y.row(y.rows == 1 ? 0 : row), out.row(row), x.cols,
           [](Floats a, Floats b) { return hn::Mul(a, b); });
    }
  });
  return OkStatus();
}

}  // namespace peruse::cpu
