#include "core/ops/rotate.h"

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

// Calls visit(row, first column, second column, j) for each rotated pair of columns.
void ForEachPair(const Matrix& out, int32_t head_dim,
                 const std::function<void(int32_t, int32_t, int32_t, int32_t)>& visit) {
  const int32_t half = head_dim / 2;
  for (int32_t r = 0; r < out.rows; ++r) {
    for (int32_t head = 0; head < out.cols; head += head_dim) {
      for (int32_t j = 0; j < half; ++j) visit(r, head + j, head + half + j, j);
    }
  }
}

}  // namespace

bool Fits(const Rotate& op, const Shapes& s) {
  const int32_t head_dim = s.cols(op.angles);
  return s.Alike(op.out, op.x) && s(op.angles).rows == s(op.x).rows && head_dim % 2 == 0 &&
         s.cols(op.x) % head_dim == 0;
}

void Compute(const Rotate& op, const Numbers& n) {
  const Matrix &x = n(op.x), &angles = n(op.angles), &out = n(op.out);
  ForEachPair(out, angles.cols, [&](int32_t r, int32_t a, int32_t b, int32_t j) {
    const double cosine = angles(r, j), sine = angles(r, angles.cols / 2 + j);
    out(r, a) = cosine * x(r, a) - sine * x(r, b);
    out(r, b) = cosine * x(r, b) + sine * x(r, a);
  });
}

void Gradient(const Rotate& op, const Numbers& n, const Gradients& g) {
  const Matrix &x = n(op.x), &angles = n(op.angles), &out = g(op.out);
  const int32_t half = angles.cols / 2;
  ForEachPair(out, angles.cols, [&](int32_t r, int32_t a, int32_t b, int32_t j) {
    const double cosine = angles(r, j), sine = angles(r, half + j);
    g(op.x)(r, a) += cosine * out(r, a) + sine * out(r, b);
    g(op.x)(r, b) += cosine * out(r, b) - sine * out(r, a);
    g(op.angles)(r, j) += out(r, a) * x(r, a) + out(r, b) * x(r, b);
    g(op.angles)(r, half + j) += out(r, b) * x(r, a) - out(r, a) * x(r, b);
  });
}

std::vector<double> Bound(const Rotate& op, Value result, const Numbers& n) {
  const Matrix &x = n(op.x), &angles = n(op.angles), &out = n(result);
  std::vector<double> bounds(static_cast<size_t>(out.rows) * static_cast<size_t>(out.cols));
  ForEachPair(out, angles.cols, [&](int32_t r, int32_t a, int32_t b, int32_t j) {
    const double cosine = std::fabs(angles(r, j)), sine = std::fabs(angles(r, angles.cols / 2 + j));
    const auto at = [&](int32_t c) -> double& {
      return bounds[static_cast<size_t>(r) * static_cast<size_t>(out.cols) + static_cast<size_t>(c)];
    };
    at(a) = kEpsilon * kDot * (cosine * std::fabs(x(r, a)) + sine * std::fabs(x(r, b)));
    at(b) = kEpsilon * kDot * (cosine * std::fabs(x(r, b)) + sine * std::fabs(x(r, a)));
  });
  return bounds;
}

}  // namespace peruse::ops
