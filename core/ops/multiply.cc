#include "core/ops/multiply.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const Multiply& op, const Shapes& s) { return s.Alike(op.out, op.x) && s.Alike(op.y, op.x); }

void Compute(const Multiply& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t c = 0; c < out.cols; ++c) out(r, c) = n(op.x)(r, c) * n(op.y)(r, c);
  }
}

void Gradient(const Multiply& op, const Numbers& n, const Gradients& g) {
  const Matrix& out = g(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t c = 0; c < out.cols; ++c) {
      g(op.x)(r, c) += out(r, c) * n(op.y)(r, c);
      g(op.y)(r, c) += out(r, c) * n(op.x)(r, c);
    }
  }
}

std::vector<double> Bound(const Multiply& op, Value result, const Numbers& n) {
  return ForEachCell(n(result),
                     [&](int32_t r, int32_t c) { return kEpsilon * kDot * std::fabs(n(op.x)(r, c) * n(op.y)(r, c)); });
}

}  // namespace peruse::ops
