#include "core/ops/span_conv.h"

#include <algorithm>

#include "core/ops/reference.h"
#include "core/ops/shapes.h"

namespace peruse::ops {
namespace {

// Returns the logits [tokens, heads * K], or with `sizes` the sums of absolute products for each.
std::vector<double> Logits(const SpanConv& op, const Numbers& n, bool sizes) {
  const int32_t width = op.heads * op.kernel_size;
  const Matrix& x = n(op.logits);
  std::vector<double> logits(static_cast<size_t>(x.rows) * static_cast<size_t>(width));
  for (int32_t r = 0; r < x.rows; ++r) {
    double* row = logits.data() + int64_t{r} * width;
    if (op.weight.valid()) {
      Project(&x(r, 0), n(op.weight), sizes, row);
    } else {
      for (int32_t c = 0; c < width; ++c) row[c] = sizes ? std::fabs(x(r, c)) : x(r, c);
    }
  }
  return logits;
}

std::vector<double> Kernels(const SpanConv& op, const Numbers& n) {
  std::vector<double> kernels = Logits(op, n, /*sizes=*/false);
  const auto taps = static_cast<size_t>(op.kernel_size);
  for (size_t first = 0; first < kernels.size(); first += taps) Softmax(std::span(kernels).subspan(first, taps));
  return kernels;
}

void ForEachProduct(const SpanConv& op, const Numbers& n, const std::vector<double>& kernels,
                    const std::function<void(int32_t, int32_t, double)>& visit) {
  const Matrix& values = n(op.values);
  const int32_t head_dim = values.cols / op.heads;
  ForEachTap(*n.batch, op.kernel_size, [&](int32_t t, int32_t tap, int32_t source) {
    for (int32_t c = 0; c < values.cols; ++c) {
      const int64_t cell = (int64_t{t} * op.heads + c / head_dim) * op.kernel_size + tap;
      visit(t, c, kernels[static_cast<size_t>(cell)] * values(source, c));
    }
  });
}

}  // namespace

bool Fits(const SpanConv& op, const Shapes& s) {
  const int32_t taps = op.heads * op.kernel_size;
  const int32_t width = s.cols(op.values);
  if (op.heads <= 0 || op.kernel_size % 2 != 1 || width % op.heads != 0) return false;
  if (op.weight.valid() && s(op.weight).out != taps) return false;
  return s.Is(op.logits, kTokenRows, op.weight.valid() ? s(op.weight).in : taps) &&
         s.Is(op.values, kTokenRows, width) && s.Alike(op.out, op.values) &&
         (!op.kernels.valid() || s.Is(op.kernels, kTokenRows, taps));
}

void Compute(const SpanConv& op, const Numbers& n) {
  const std::vector<double> kernels = Kernels(op, n);
  const Matrix& out = n(op.out);
  for (int32_t r = 0; r < out.rows; ++r) std::fill_n(&out(r, 0), out.cols, 0.0);
  ForEachProduct(op, n, kernels, [&](int32_t t, int32_t c, double product) { out(t, c) += product; });
  if (!op.kernels.valid()) return;
  const Matrix& result = n(op.kernels);
  for (int32_t r = 0; r < result.rows; ++r) {
    std::copy_n(kernels.begin() + int64_t{r} * result.cols, result.cols, &result(r, 0));
  }
}

void Gradient(const SpanConv& op, const Numbers& n, const Gradients& g) {
  PERUSE_CHECK(!op.weight.valid());
  const std::vector<double> kernels = Kernels(op, n);
  std::vector<double> kernel_gradients(kernels.size());
  const int32_t taps = op.kernel_size;
  const int32_t head_dim = n(op.values).cols / op.heads;
  if (op.kernels.valid()) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto cell = static_cast<int64_t>(i);
      kernel_gradients[i] = g(op.kernels)(cell / (op.heads * taps), cell % (op.heads * taps));
    }
  }
  ForEachTap(*n.batch, taps, [&](int32_t t, int32_t tap, int32_t source) {
    for (int32_t c = 0; c < n(op.values).cols; ++c) {
      const auto cell = static_cast<size_t>((int64_t{t} * op.heads + c / head_dim) * taps + tap);
      g(op.values)(source, c) += kernels[cell] * g(op.out)(t, c);
      kernel_gradients[cell] += n(op.values)(source, c) * g(op.out)(t, c);
    }
  });
  for (size_t first = 0; first < kernels.size(); first += static_cast<size_t>(taps)) {
    const double mean = Dot(kernels.data() + first, kernel_gradients.data() + first, taps);
    for (size_t i = first; i < first + static_cast<size_t>(taps); ++i) {
      const auto cell = static_cast<int64_t>(i);
      g(op.logits)(cell / (op.heads * taps), cell % (op.heads * taps)) += kernels[i] * (kernel_gradients[i] - mean);
    }
  }
}

std::vector<double> Bound(const SpanConv& op, Value result, const Numbers& n) {
  const std::vector<double> sizes = Logits(op, n, /*sizes=*/true);
  const double largest = *std::max_element(sizes.begin(), sizes.end());
  // Without a fused linear layer the logits are exact.
  const double softmax = op.weight.valid() ? SoftmaxFactor(largest) : 2 * largest + kSoftmax;
  const Matrix& out = n(result);
  if (result == op.kernels) {
    return ForEachCell(out, [&](int32_t r, int32_t c) { return kEpsilon * softmax * std::fabs(out(r, c)); });
  }
  std::vector<double> bounds(static_cast<size_t>(out.rows) * static_cast<size_t>(out.cols));
  ForEachProduct(op, n, Kernels(op, n), [&](int32_t t, int32_t c, double product) {
    bounds[static_cast<size_t>(int64_t{t} * out.cols + c)] += kEpsilon * (softmax + kDot) * std::fabs(product);
  });
  return bounds;
}

}  // namespace peruse::ops
