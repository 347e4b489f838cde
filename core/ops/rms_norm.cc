#include "core/ops/rms_norm.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

// Calls visit(row, first column, 1 / deviation) for each block.
void ForEachBlock(const RmsNorm& op, const Numbers& n, const std::function<void(int32_t, int32_t, double)>& visit) {
  const Matrix& x = n(op.x);
  const int32_t width = n(op.weight).cols;
  for (int32_t r = 0; r < x.rows; ++r) {
    for (int32_t first = 0; first < x.cols; first += width) {
      const double squares = Dot(&x(r, first), &x(r, first), width);
      visit(r, first, 1 / std::sqrt(squares / width + static_cast<double>(op.eps)));
    }
  }
}

}  // namespace

bool Fits(const RmsNorm& op, const Shapes& s) {
  return op.eps >= 0 && s.Alike(op.out, op.x) && s.Is(op.weight, kOneRow, s.cols(op.weight)) &&
         s.cols(op.x) % s.cols(op.weight) == 0;
}

void Compute(const RmsNorm& op, const Numbers& n) {
  const Matrix &x = n(op.x), &weight = n(op.weight), &out = n(op.out);
  ForEachBlock(op, n, [&](int32_t r, int32_t first, double inverse) {
    for (int32_t c = 0; c < weight.cols; ++c) {
      out(r, first + c) = x(r, first + c) * inverse * (weight(0, c) + static_cast<double>(op.offset));
    }
  });
}

// With z = x / deviation and d the gradient of z: the gradient of x is (d - z mean(z d)) / deviation.
void Gradient(const RmsNorm& op, const Numbers& n, const Gradients& g) {
  const Matrix &x = n(op.x), &weight = n(op.weight), &out = g(op.out);
  ForEachBlock(op, n, [&](int32_t r, int32_t first, double inverse) {
    const auto scaled = [&](int32_t c) { return out(r, first + c) * (weight(0, c) + static_cast<double>(op.offset)); };
    double along = 0;
    for (int32_t c = 0; c < weight.cols; ++c) along += scaled(c) * x(r, first + c) * inverse / weight.cols;
    for (int32_t c = 0; c < weight.cols; ++c) {
      const double normed = x(r, first + c) * inverse;
      g(op.weight)(0, c) += out(r, first + c) * normed;
      g(op.x)(r, first + c) += (scaled(c) - normed * along) * inverse;
    }
  });
}

// Half the relative error of the sum of squares, which has terms of one sign, and one rounding each for its mean, eps, the root, the
// quotient, the weight with its offset, and the product.
std::vector<double> Bound(const RmsNorm& op, Value result, const Numbers& n) {
  const Matrix& out = n(result);
  const double sum = kDotOfOneSign * std::sqrt(n(op.weight).cols) / 2;
  return ForEachCell(out, [&](int32_t r, int32_t c) { return kEpsilon * (sum + 6) * std::fabs(out(r, c)); });
}

}  // namespace peruse::ops
