#include "core/ops/select_rows.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const SelectRows& op, const Shapes& s) { return s.Is(op.out, s(op.rows).extent(), s(op.x).cols); }

void Compute(const SelectRows& op, const Numbers& n) {
  const Matrix& x = n(op.x);
  const Matrix& out = n(op.out);
  const std::span<const int32_t> rows = n(op.rows);
  for (int32_t r = 0; r < out.rows; ++r) {
    const int32_t row = rows[static_cast<size_t>(r)];
    PERUSE_CHECK(row >= 0 && row < x.rows);
    for (int32_t c = 0; c < out.cols; ++c) out(r, c) = x(row, c);
  }
}

void Gradient(const SelectRows& op, const Numbers& n, const Gradients& g) {
  const Matrix& out = g(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    const int32_t row = n(op.rows)[static_cast<size_t>(r)];
    for (int32_t c = 0; c < out.cols; ++c) g(op.x)(row, c) += out(r, c);
  }
}

std::vector<double> Bound(const SelectRows&, Value result, const Numbers& n) {
  return ForEachCell(n(result), [](int32_t, int32_t) { return 0.0; });
}

}  // namespace peruse::ops
