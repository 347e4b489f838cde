#include "core/ops/normalize.h"

#include <algorithm>

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const Normalize& op, const Shapes& s) { return op.eps > 0 && s.Alike(op.out, op.x); }

void Compute(const Normalize& op, const Numbers& n) {
  const Matrix& x = n(op.x);
  const Matrix& out = n(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    const double length = std::sqrt(Dot(&x(r, 0), &x(r, 0), x.cols));
    for (int32_t c = 0; c < out.cols; ++c) out(r, c) = x(r, c) / std::max(length, static_cast<double>(op.eps));
  }
}

// The gradient of x / |x| is (dy - y (y . dy)) / |x|; where eps replaces |x|, it is dy / eps.
void Gradient(const Normalize& op, const Numbers& n, const Gradients& g) {
  const Matrix& x = n(op.x);
  const Matrix& out = g(op.out);
  for (int32_t r = 0; r < x.rows; ++r) {
    const double length = std::sqrt(Dot(&x(r, 0), &x(r, 0), x.cols));
    const double divisor = std::max(length, static_cast<double>(op.eps));
    // Uses y instead of x, so that a row with one column has exactly zero gradient.
    double along = 0;
    for (int32_t c = 0; length > op.eps && c < x.cols; ++c) along += x(r, c) / divisor * out(r, c);
    for (int32_t c = 0; c < x.cols; ++c) g(op.x)(r, c) += (out(r, c) - along * (x(r, c) / divisor)) / divisor;
  }
}

// Half the error of the sum, and one rounding each for the root, the quotient and the product.
std::vector<double> Bound(const Normalize& op, Value result, const Numbers& n) {
  const Matrix& x = n(op.x);
  return ForEachCell(n(result), [&](int32_t r, int32_t c) {
    const double length = std::sqrt(Dot(&x(r, 0), &x(r, 0), x.cols));
    return kEpsilon * (kDot / 2 + 3) * std::fabs(x(r, c)) / std::max(length, static_cast<double>(op.eps));
  });
}

}  // namespace peruse::ops
