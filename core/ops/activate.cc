#include "core/ops/activate.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const Activate& op, const Shapes& s) { return s.Alike(op.out, op.x); }

void Compute(const Activate& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t c = 0; c < out.cols; ++c) out(r, c) = Activated(n(op.x)(r, c), op.activation);
  }
}

void Gradient(const Activate& op, const Numbers& n, const Gradients& g) {
  const Matrix& x = n(op.x);
  for (int32_t r = 0; r < x.rows; ++r) {
    for (int32_t c = 0; c < x.cols; ++c) g(op.x)(r, c) += g(op.out)(r, c) * ActivationSlope(x(r, c), op.activation);
  }
}

std::vector<double> Bound(const Activate& op, Value result, const Numbers& n) {
  return ForEachCell(n(result),
                     [&](int32_t r, int32_t c) { return ActivationBound(op.activation, std::fabs(n(op.x)(r, c)), 0); });
}

}  // namespace peruse::ops
