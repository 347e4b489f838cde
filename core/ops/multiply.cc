#include "core/ops/multiply.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const Multiply& op, const Shapes& s) {
  return s.Alike(op.out, op.x) && (s.Alike(op.y, op.x) || s.Is(op.y, kOneRow, s(op.x).cols));
}

void Compute(const Multiply& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  const Matrix& y = n(op.y);
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t c = 0; c < out.cols; ++c) {
      out(r, c) = Activated(n(op.x)(r, c), op.activation) * y(y.rows == 1 ? 0 : r, c);
    }
  }
}

void Gradient(const Multiply& op, const Numbers& n, const Gradients& g) {
  const Matrix& out = g(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    const int32_t row = n(op.y).rows == 1 ? 0 : r;
    for (int32_t c = 0; c < out.cols; ++c) {
      g(op.x)(r, c) += out(r, c) * n(op.y)(row, c);
      g(op.y)(row, c) += out(r, c) * n(op.x)(r, c);
    }
  }
}

std::vector<double> Bound(const Multiply& op, Value result, const Numbers& n) {
  const Matrix& y = n(op.y);
  return ForEachCell(n(result), [&](int32_t r, int32_t c) {
    const double x = n(op.x)(r, c), factor = std::fabs(y(y.rows == 1 ? 0 : r, c));
    const double activated = ActivationBound(op.activation, std::fabs(x), 0);
    return factor * (kEpsilon * kDot * std::fabs(Activated(x, op.activation)) + activated);
  });
}

}  // namespace peruse::ops
