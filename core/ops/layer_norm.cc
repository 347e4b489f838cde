#include "core/ops/layer_norm.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

// Calls visit(row, values, sizes): `values` are the row to normalise, `sizes` the sums of absolute values for its error bounds.
void ForEachRow(const LayerNorm& op, const Numbers& n,
                const std::function<void(int32_t, const double*, const double*)>& visit) {
  const Matrix& x = n(op.x);
  std::vector<double> values(static_cast<size_t>(x.cols));
  std::vector<double> sizes(values.size());
  for (int32_t r = 0; r < x.rows; ++r) {
    for (int32_t c = 0; c < x.cols; ++c) {
      const double other = op.residual.valid() ? n(op.residual)(r, c) : 0;
      values[static_cast<size_t>(c)] = x(r, c) + other;
      sizes[static_cast<size_t>(c)] = std::fabs(x(r, c)) + std::fabs(other);
    }
    visit(r, values.data(), sizes.data());
  }
}

}  // namespace

bool Fits(const LayerNorm& op, const Shapes& s) {
  return s.Alike(op.out, op.x) && s.NoneOrAlike(op.residual, op.x) && s.IsNorm(op.norm, s.cols(op.x));
}

void Compute(const LayerNorm& op, const Numbers& n) {
  ForEachRow(op, n,
             [&](int32_t r, const double* values, const double*) { NormRow(values, op.norm, n, &n(op.out)(r, 0)); });
}

void Gradient(const LayerNorm& op, const Numbers& n, const Gradients& g) {
  const Matrix& out = g(op.out);
  const int32_t width = out.cols;
  ForEachRow(op, n, [&](int32_t r, const double* values, const double*) {
    double mean = 0;
    for (int32_t c = 0; c < width; ++c) mean += values[c] / width;
    double variance = 0;
    for (int32_t c = 0; c < width; ++c) variance += (values[c] - mean) * (values[c] - mean) / width;
    const double inverse = 1 / std::sqrt(variance + op.norm.eps);
    double mean_gradient = 0;
    double mean_product = 0;
    for (int32_t c = 0; c < width; ++c) {
      const double normed = (values[c] - mean) * inverse;
      const double weighted = out(r, c) * n(op.norm.weight)(0, c);
      mean_gradient += weighted / width;
      mean_product += weighted * normed / width;
      g(op.norm.weight)(0, c) += out(r, c) * normed;
      if (op.norm.bias.valid()) g(op.norm.bias)(0, c) += out(r, c);
    }
    for (int32_t c = 0; c < width; ++c) {
      const double normed = (values[c] - mean) * inverse;
      const double dx = (out(r, c) * n(op.norm.weight)(0, c) - mean_gradient - normed * mean_product) * inverse;
      g(op.x)(r, c) += dx;
      if (op.residual.valid()) g(op.residual)(r, c) += dx;
    }
  });
}

std::vector<double> Bound(const LayerNorm& op, Value, const Numbers& n) {
  std::vector<double> bounds;
  ForEachRow(op, n, [&](int32_t, const double* values, const double* sizes) {
    NormBounds(values, sizes, op.norm, n, bounds);
  });
  return bounds;
}

}  // namespace peruse::ops
