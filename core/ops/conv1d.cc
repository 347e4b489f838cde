#include "core/ops/conv1d.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

// Calls visit(row, window) for each token. The window [groups, kernel_size, width] is zero outside the text.
void ForEachWindow(const Conv1d& op, const Numbers& n, const std::function<void(int32_t, const double*)>& visit) {
  const Matrix& x = n(op.x);
  const LinearSpec& spec = n(op.weight).spec;
  const int32_t width = x.cols / spec.groups;
  std::vector<double> windows(static_cast<size_t>(int64_t{x.rows} * spec.in));
  ForEachTap(*n.batch, op.kernel_size, [&](int32_t t, int32_t tap, int32_t source) {
    for (int32_t c = 0; c < x.cols; ++c) {
      const int64_t column = (int64_t{c / width} * op.kernel_size + tap) * width + c % width;
      windows[static_cast<size_t>(int64_t{t} * spec.in + column)] = x(source, c);
    }
  });
  for (int32_t r = 0; r < x.rows; ++r) visit(r, windows.data() + int64_t{r} * spec.in);
}

}  // namespace

bool Fits(const Conv1d& op, const Shapes& s) {
  const LinearSpec& spec = s(op.weight);
  return op.kernel_size % 2 == 1 && s(op.x).rows == kTokenRows && spec.in == int64_t{op.kernel_size} * s.cols(op.x) &&
         s.Is(op.out, kTokenRows, spec.out);
}

void Compute(const Conv1d& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  ForEachWindow(op, n, [&](int32_t r, const double* window) {
    Project(window, n(op.weight), /*sizes=*/false, &out(r, 0));
    for (int32_t c = 0; c < out.cols; ++c) out(r, c) = Activated(out(r, c), op.activation);
  });
}

void Gradient(const Conv1d& op, const Numbers& n, const Gradients& g) {
  PERUSE_CHECK(op.activation == Activation::kNone);
  const LinearSpec& spec = n(op.weight).spec;
  const Matrix& x = g(op.x);
  const int32_t width = x.cols / spec.groups;
  std::vector<double> windows(static_cast<size_t>(int64_t{x.rows} * spec.in));
  ForEachWindow(op, n, [&](int32_t r, const double* window) {
    AddProjectGradient(window, n(op.weight), &g(op.out)(r, 0), windows.data() + int64_t{r} * spec.in, g(op.weight));
  });
  ForEachTap(*n.batch, op.kernel_size, [&](int32_t t, int32_t tap, int32_t source) {
    for (int32_t c = 0; c < x.cols; ++c) {
      const int64_t column = (int64_t{c / width} * op.kernel_size + tap) * width + c % width;
      x(source, c) += windows[static_cast<size_t>(int64_t{t} * spec.in + column)];
    }
  });
}

std::vector<double> Bound(const Conv1d& op, Value result, const Numbers& n) {
  std::vector<double> bounds;
  std::vector<double> sizes(static_cast<size_t>(n(result).cols));
  ForEachWindow(op, n, [&](int32_t, const double* window) {
    Project(window, n(op.weight), /*sizes=*/true, sizes.data());
    for (const double size : sizes) bounds.push_back(ActivationBound(op.activation, size, kEpsilon * kDot * size));
  });
  return bounds;
}

}  // namespace peruse::ops
