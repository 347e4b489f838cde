#include "core/ops/linear.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {

bool Fits(const Linear& op, const Shapes& s) {
  const LinearSpec& spec = s(op.weight);
  const Extent rows = s(op.x).rows;
  const int32_t outs = op.some_outputs && op.out.valid() ? s.cols(op.out) : spec.out;
  if (op.some_outputs && !(op.plain() && spec.groups == 1 && outs < spec.out)) return false;
  if (op.first < 0 || op.first % Linear::kPartMultiple != 0 || op.first + outs > spec.out) return false;
  if (op.first > 0 && !op.some_outputs) return false;
  if (!s.Is(op.x, rows, spec.in) || !s.Is(op.out, rows, outs) || !s.NoneOrAlike(op.factor, op.out)) return false;
  if (!op.norm.valid()) return !op.residual.valid();
  return s.Alike(op.residual, op.out) && s.IsNorm(op.norm, spec.out);
}

void Compute(const Linear& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  std::vector<double> row(static_cast<size_t>(n(op.weight).spec.out));
  for (int32_t r = 0; r < out.rows; ++r) {
    Project(&n(op.x)(r, 0), n(op.weight), /*sizes=*/false, row.data());
    for (int32_t c = 0; c < out.cols; ++c) {
      double& value = row[static_cast<size_t>(op.first + c)];
      value = Activated(value, op.activation);
      if (op.factor.valid()) value *= n(op.factor)(r, c);
      if (op.residual.valid()) value += n(op.residual)(r, c);
      out(r, c) = value;
    }
    if (op.norm.valid()) NormRow(row.data(), op.norm, n, &out(r, 0));
  }
}

void Gradient(const Linear& op, const Numbers& n, const Gradients& g) {
  PERUSE_CHECK(op.plain() && !op.some_outputs);
  const Matrix& out = g(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    AddProjectGradient(&n(op.x)(r, 0), n(op.weight), &out(r, 0), &g(op.x)(r, 0), g(op.weight));
  }
}

std::vector<double> Bound(const Linear& op, Value result, const Numbers& n) {
  const Matrix& out = n(result);
  std::vector<double> bounds;
  std::vector<double> row(static_cast<size_t>(n(op.weight).spec.out));
  std::vector<double> sizes(row.size());
  for (int32_t r = 0; r < out.rows; ++r) {
    Project(&n(op.x)(r, 0), n(op.weight), /*sizes=*/true, sizes.data());
    if (op.norm.valid()) {
      Project(&n(op.x)(r, 0), n(op.weight), /*sizes=*/false, row.data());
      for (int32_t c = 0; c < out.cols; ++c) {
        row[static_cast<size_t>(c)] += n(op.residual)(r, c);
        sizes[static_cast<size_t>(c)] += std::fabs(n(op.residual)(r, c));
      }
      NormBounds(row.data(), sizes.data(), op.norm, n, bounds);
      continue;
    }
    for (int32_t c = 0; c < out.cols; ++c) {
      double size = sizes[static_cast<size_t>(op.first + c)];
      if (op.factor.valid()) size *= std::fabs(n(op.factor)(r, c));
      bounds.push_back(ActivationBound(op.activation, size, kEpsilon * kDot * size));
    }
  }
  return bounds;
}

}  // namespace peruse::ops
