#include "core/ops/matmul.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const MatMul& op, const Shapes& s) {
  return s(op.x).cols == s(op.y).cols && s.Is(op.out, s(op.x).rows, s(op.y).rows);
}

void Compute(const MatMul& op, const Numbers& n) {
  const Matrix& x = n(op.x);
  const Matrix& out = n(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t c = 0; c < out.cols; ++c) out(r, c) = Dot(&x(r, 0), &n(op.y)(c, 0), x.cols);
  }
}

void Gradient(const MatMul& op, const Numbers& n, const Gradients& g) {
  const Matrix& out = g(op.out);
  const int32_t width = n(op.x).cols;
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t c = 0; c < out.cols; ++c) {
      for (int32_t i = 0; i < width; ++i) {
        g(op.x)(r, i) += out(r, c) * n(op.y)(c, i);
        g(op.y)(c, i) += out(r, c) * n(op.x)(r, i);
      }
    }
  }
}

std::vector<double> Bound(const MatMul& op, Value result, const Numbers& n) {
  const Matrix& x = n(op.x);
  return ForEachCell(n(result), [&](int32_t r, int32_t c) {
    double size = 0;
    for (int32_t i = 0; i < x.cols; ++i) size += std::fabs(x(r, i) * n(op.y)(c, i));
    return kEpsilon * kDot * size;
  });
}

}  // namespace peruse::ops
