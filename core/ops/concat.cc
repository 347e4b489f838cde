#include "core/ops/concat.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const Concat& op, const Shapes& s) {
  return s(op.y).rows == s(op.x).rows && s.Is(op.out, s(op.x).rows, s.cols(op.x) + s.cols(op.y));
}

void Compute(const Concat& op, const Numbers& n) {
  const Matrix& x = n(op.x);
  const Matrix& out = n(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t c = 0; c < out.cols; ++c) out(r, c) = c < x.cols ? x(r, c) : n(op.y)(r, c - x.cols);
  }
}

void Gradient(const Concat& op, const Numbers&, const Gradients& g) {
  const Matrix& x = g(op.x);
  const Matrix& out = g(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t c = 0; c < out.cols; ++c) (c < x.cols ? x(r, c) : g(op.y)(r, c - x.cols)) += out(r, c);
  }
}

std::vector<double> Bound(const Concat&, Value result, const Numbers& n) {
  return ForEachCell(n(result), [](int32_t, int32_t) { return 0.0; });
}

}  // namespace peruse::ops
