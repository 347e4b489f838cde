#include "core/ops/pool_rows.h"

#include <algorithm>

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

template <typename Visit>
void ForEachSource(const PoolRows& op, const Numbers& n, int32_t row, int32_t col, Visit visit) {
  const Matrix& x = n(op.x);
  const int32_t width = n(op.out).cols;
  const int32_t blocks = x.cols / width;
  const auto r = static_cast<size_t>(row);
  for (int32_t j = 0; j < n(op.counts)[r]; ++j) {
    const int32_t source = n(op.begins)[r] + j * op.stride;
    PERUSE_CHECK(source >= 0 && source < x.rows * blocks);
    visit(source / blocks, source % blocks * width + col);
  }
}

template <typename Visit>
void ForEachValue(const PoolRows& op, const Numbers& n, int32_t row, int32_t col, Visit visit) {
  ForEachSource(op, n, row, col, [&](int32_t r, int32_t c) { visit(n(op.x)(r, c)); });
}

}  // namespace

bool Fits(const PoolRows& op, const Shapes& s) {
  const int32_t width = s.cols(op.out);
  return op.stride > 0 && width > 0 && s.Is(op.out, s(op.begins).extent(), width) &&
         s(op.counts).extent() == s(op.begins).extent() && s(op.x).cols == Extent{Domain::kOne, s.cols(op.x)} &&
         s.cols(op.x) % width == 0;
}

void Compute(const PoolRows& op, const Numbers& n) {
  const Matrix& out = n(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    const double count = n(op.counts)[static_cast<size_t>(r)];
    for (int32_t c = 0; c < out.cols; ++c) {
      double sum = 0, squares = 0, sizes = 0, largest_size = 0;
      double largest = -HUGE_VAL;
      ForEachValue(op, n, r, c, [&](double value) {
        sum += value;
        squares += value * value;
        sizes += std::fabs(value);
        largest = std::max(largest, value);
        largest_size = std::max(largest_size, std::fabs(value));
      });
      const double of_kind[] = {sum, sum / count, largest, sizes / count, largest_size, std::sqrt(squares / count)};
      out(r, c) = count == 0 ? 0 : of_kind[static_cast<size_t>(op.kind)];
    }
  }
}

// Ties go to the first maximum.
void Gradient(const PoolRows& op, const Numbers& n, const Gradients& g) {
  const Matrix& x = n(op.x);
  const Matrix& out = g(op.out);
  for (int32_t r = 0; r < out.rows; ++r) {
    const double count = n(op.counts)[static_cast<size_t>(r)];
    for (int32_t c = 0; c < out.cols; ++c) {
      const double gradient = out(r, c);
      double largest = -HUGE_VAL, squares = 0;
      ForEachValue(op, n, r, c, [&](double value) {
        largest = std::max(largest, op.kind == PoolRows::Kind::kMax ? value : std::fabs(value));
        squares += value * value;
      });
      const double root = std::sqrt(squares / count);
      bool found = false;
      ForEachSource(op, n, r, c, [&](int32_t row, int32_t col) {
        const double value = x(row, col), sign = value < 0 ? -1 : 1;
        double slope = 1;
        if (TakesLargest(op.kind)) {
          const bool is = !found && (op.kind == PoolRows::Kind::kMax ? value : std::fabs(value)) == largest;
          found = found || is;
          slope = is ? 1 : 0;
        }
        if (TakesSizes(op.kind)) slope *= sign;
        if (op.kind == PoolRows::Kind::kMean || op.kind == PoolRows::Kind::kAbsMean) slope /= count;
        if (op.kind == PoolRows::Kind::kRootMeanSquare) slope = root > 0 ? value / (count * root) : 0;
        g(op.x)(row, col) += slope * gradient;
      });
    }
  }
}

std::vector<double> Bound(const PoolRows& op, Value result, const Numbers& n) {
  return ForEachCell(n(result), [&](int32_t r, int32_t c) {
    double sizes = 0, squares = 0;
    const int32_t count = n(op.counts)[static_cast<size_t>(r)];
    ForEachValue(op, n, r, c, [&](double value) {
      sizes += std::fabs(value);
      squares += value * value;
    });
    if (TakesLargest(op.kind) || count == 0) return 0.0;
    if (op.kind == PoolRows::Kind::kSum) return kEpsilon * kDot * sizes;
    if (op.kind == PoolRows::Kind::kMean) return kEpsilon * kDot * sizes / count;
    const double one_sign = kEpsilon * std::max(kDot, kDotOfOneSign * std::sqrt(count));
    return one_sign * (op.kind == PoolRows::Kind::kAbsMean ? sizes / count : std::sqrt(squares / count));
  });
}

}  // namespace peruse::ops
