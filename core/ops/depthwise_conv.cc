#include "core/ops/depthwise_conv.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const DepthwiseConv& op, const Shapes& s) {
  const Extent taps = s(op.taps).rows;
  return s.Alike(op.out, op.x) && s(op.x).rows == kTokenRows && taps.domain == Domain::kOne && taps.factor % 2 == 1 &&
         s.Is(op.taps, taps, s(op.x).cols);
}

void Compute(const DepthwiseConv& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  for (int32_t r = 0; r < out.rows; ++r) std::fill_n(&out(r, 0), out.cols, 0.0);
  ForEachTap(*n.batch, n(op.taps).rows, [&](int32_t t, int32_t tap, int32_t source) {
    for (int32_t c = 0; c < out.cols; ++c) out(t, c) += n(op.taps)(tap, c) * n(op.x)(source, c);
  });
}

void Gradient(const DepthwiseConv& op, const Numbers& n, const Gradients& g) {
  const Matrix& out = g(op.out);
  ForEachTap(*n.batch, n(op.taps).rows, [&](int32_t t, int32_t tap, int32_t source) {
    for (int32_t c = 0; c < out.cols; ++c) {
      g(op.x)(source, c) += n(op.taps)(tap, c) * out(t, c);
      g(op.taps)(tap, c) += n(op.x)(source, c) * out(t, c);
    }
  });
}

std::vector<double> Bound(const DepthwiseConv& op, Value result, const Numbers& n) {
  const int32_t cols = n(result).cols;
  std::vector<double> bounds(static_cast<size_t>(n(result).rows) * static_cast<size_t>(cols));
  ForEachTap(*n.batch, n(op.taps).rows, [&](int32_t t, int32_t tap, int32_t source) {
    double* row = bounds.data() + int64_t{t} * cols;
    for (int32_t c = 0; c < cols; ++c) row[c] += kEpsilon * kDot * std::fabs(n(op.taps)(tap, c) * n(op.x)(source, c));
  });
  return bounds;
}

}  // namespace peruse::ops
