#include "core/ops/reference.h"

#include <algorithm>

#include "core/formats/quantize.h"
#include "core/formats/weight_format.h"

namespace peruse::ops {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

// Quantises a group's slice of a row and returns its scale. The integers are stored as doubles, which hold sums of their products exactly.
double QuantizeSlice(const double* features, int32_t in, int32_t levels, bool wide, double* integers) {
  const std::vector<float> values(features, features + in);
  std::vector<int16_t> quantized(values.size());
  const float scale = QuantizeInputs(values, levels, wide, quantized.data());
  std::copy(quantized.begin(), quantized.end(), integers);
  return scale;
}

double SizeDot(const double* a, const double* b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += std::fabs(a[i] * b[i]);
  return sum;
}

}  // namespace

double Activated(double x, Activation activation) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kGelu:
      return Gelu(x);
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluFast:
      return 0.5 * x * (1 + std::tanh(0.7978845608 * x * (1 + 0.044715 * x * x)));
    case Activation::kGeluClipped:
      return std::clamp(Gelu(x), -10.0, 10.0);
    case Activation::kQuickGelu:
      return x * Sigmoid(1.702 * x);
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kRelu6:
      return std::clamp(x, 0.0, 6.0);
    case Activation::kSilu:
      return x * Sigmoid(x);
    case Activation::kMish:
      return x * std::tanh(x > 30 ? x : std::log1p(std::exp(x)));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return Sigmoid(x);
    case Activation::kLeakyRelu:
      return x < 0 ? 0.01 * x : x;
    case Activation::kReluSquared:
      return x < 0 ? 0 : x * x;
    case Activation::kLaplace:
      return 0.5 * (1 + std::erf((x - 0.707107) / (0.282095 * std::sqrt(2.0))));
    case Activation::kLog1pRelu:
      return x < 0 ? 0 : std::log1p(x);
    case Activation::kCappedQuickGelu:
      return Activated(std::min(x, 7.0), Activation::kQuickGelu);
    case Activation::kClippedPlusOne:
      return std::clamp(x, -7.0, 7.0) + 1;
  }
  return x;
}

double ActivationSlope(double x, Activation activation) {
  const auto density = [](double z) { return std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI); };
  const auto half_tanh = [x](double u, double u_slope) {
    const double t = std::tanh(u);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * u_slope;
  };
  switch (activation) {
    case Activation::kNone:
      return 1;
    case Activation::kGelu:
      return 0.5 * (1 + std::erf(x / std::sqrt(2.0))) + x * density(x);
    case Activation::kGeluTanh: {
      const double k = std::sqrt(2 / M_PI);
      return half_tanh(k * (x + 0.044715 * x * x * x), k * (1 + 3 * 0.044715 * x * x));
    }
    case Activation::kGeluFast: {
      constexpr double k = 0.7978845608;
      return half_tanh(k * x * (1 + 0.044715 * x * x), k * (1 + 3 * 0.044715 * x * x));
    }
    case Activation::kGeluClipped:
      return std::fabs(Gelu(x)) < 10 ? ActivationSlope(x, Activation::kGelu) : 0;
    case Activation::kQuickGelu: {
      const double s = Sigmoid(1.702 * x);
      return s + 1.702 * x * s * (1 - s);
    }
    case Activation::kRelu:
      return x < 0 ? 0 : 1;
    case Activation::kRelu6:
      return x < 0 || x > 6 ? 0 : 1;
    case Activation::kSilu: {
      const double s = Sigmoid(x);
      return s + x * s * (1 - s);
    }
    case Activation::kMish: {
      const double t = std::tanh(x > 30 ? x : std::log1p(std::exp(x)));
      return t + x * (1 - t * t) * Sigmoid(x);
    }
    case Activation::kTanh: {
      const double t = std::tanh(x);
      return 1 - t * t;
    }
    case Activation::kSigmoid: {
      const double s = Sigmoid(x);
      return s * (1 - s);
    }
    case Activation::kLeakyRelu:
      return x < 0 ? 0.01 : 1;
    case Activation::kReluSquared:
      return x < 0 ? 0 : 2 * x;
    case Activation::kLaplace:
      return density((x - 0.707107) / 0.282095) / 0.282095;
    case Activation::kLog1pRelu:
      return x < 0 ? 0 : 1 / (1 + x);
    case Activation::kCappedQuickGelu:
      return x > 7 ? 0 : ActivationSlope(x, Activation::kQuickGelu);
    case Activation::kClippedPlusOne:
      return std::fabs(x) > 7 ? 0 : 1;
  }
  return 1;
}

void Softmax(std::span<double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& value : values) sum += (value = std::exp(value - largest));
  for (double& value : values) value /= sum;
}

double Dot(const double* a, const double* b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void Project(const double* x, const LinearValues& linear, bool sizes, double* out) {
  const LinearSpec& spec = linear.spec;
  const int32_t levels = FormatOf(spec.precision).InputLevels(spec);
  const int32_t in = spec.in / spec.groups;
  const int32_t outs = spec.out / spec.groups;
  std::vector<double> integers(static_cast<size_t>(in)), weights(static_cast<size_t>(in));
  const auto row_scales = static_cast<size_t>(FormatOf(spec.precision).RowScales(in));
  double scale = 1, weight_scale = 1;
  for (int32_t o = 0; o < spec.out; ++o) {
    const double* slice = x + (o / outs) * in;
    if (levels > 0) {
      if (o % outs == 0) scale = QuantizeSlice(slice, in, levels, spec.wide_input, integers.data());
      slice = integers.data();
    }
    const double* row = linear.weight.get() + int64_t{o} * in;
    if (levels > 0) {
      std::copy_n(row, in, weights.begin());
      const std::span<const double> scales(linear.scale.get() + static_cast<size_t>(o) * row_scales, row_scales);
      weight_scale = FormatOf(spec.precision).Integers(scales, weights);
      row = weights.data();
    }
    const double sum = sizes ? SizeDot(slice, row, in) : Dot(slice, row, in);
    const double bias = sizes ? std::fabs(linear.bias[o]) : linear.bias[o];
    out[o] = (levels > 0 ? sum * scale * weight_scale : sum) + bias;
  }
}

void AddProjectGradient(const double* x, const LinearValues& linear, const double* result_gradient, double* x_gradient,
                        const Gradients::Linear& gradient) {
  const LinearSpec& spec = linear.spec;
  PERUSE_CHECK(FormatOf(spec.precision).InputLevels(spec) == 0);
  const int32_t in = spec.in / spec.groups;
  const int32_t outs = spec.out / spec.groups;
  for (int32_t o = 0; o < spec.out; ++o) {
    const int64_t slice = int64_t{o / outs} * in;
    const int64_t row = int64_t{o} * in;
    for (int32_t i = 0; i < in; ++i) {
      x_gradient[slice + i] += result_gradient[o] * linear.weight[row + i];
      gradient.weight[row + i] += result_gradient[o] * x[slice + i];
    }
    gradient.bias[o] += result_gradient[o];
  }
}

void NormRow(const double* x, const NormArgs& norm, const Numbers& n, double* out) {
  const Matrix& weight = n(norm.weight);
  const int32_t width = weight.cols;
  double mean = 0;
  for (int32_t c = 0; c < width; ++c) mean += x[c] / width;
  double variance = 0;
  for (int32_t c = 0; c < width; ++c) variance += (x[c] - mean) * (x[c] - mean) / width;
  const double inverse = 1 / std::sqrt(variance + norm.eps);
  for (int32_t c = 0; c < width; ++c) {
    out[c] = (x[c] - mean) * inverse * weight(0, c) + (norm.bias.valid() ? n(norm.bias)(0, c) : 0);
  }
}

void ForEachTap(const RaggedBatch& batch, int32_t taps, const std::function<void(int32_t, int32_t, int32_t)>& visit) {
  for (int32_t s = 0; s < batch.sequences(); ++s) {
    const int32_t end = batch.start(s) + batch.length(s);
    for (int32_t t = batch.start(s); t < end; ++t) {
      for (int32_t tap = 0; tap < taps; ++tap) {
        const int32_t source = t + tap - (taps - 1) / 2;
        if (source >= batch.start(s) && source < end) visit(t, tap, source);
      }
    }
  }
}

std::vector<double> ForEachCell(const Matrix& matrix, const std::function<double(int32_t, int32_t)>& cell) {
  std::vector<double> cells;
  for (int32_t r = 0; r < matrix.rows; ++r) {
    for (int32_t c = 0; c < matrix.cols; ++c) cells.push_back(cell(r, c));
  }
  return cells;
}

double ActivationBound(Activation activation, double magnitude, double x_error) {
  if (activation == Activation::kNone) return x_error;
  return kActivationSlope * x_error + kEpsilon * kActivation * std::max(magnitude, 1.0);
}

void NormBounds(const double* x, const double* magnitudes, const NormArgs& norm, const Numbers& n,
                std::vector<double>& bounds) {
  const Matrix& weight = n(norm.weight);
  const int32_t width = weight.cols;
  const double largest = *std::max_element(magnitudes, magnitudes + width);
  double mean = 0;
  double variance = 0;
  for (int32_t i = 0; i < width; ++i) mean += x[i] / width;
  for (int32_t i = 0; i < width; ++i) variance += (x[i] - mean) * (x[i] - mean) / width;
  const double inverse = 1 / std::sqrt(variance + norm.eps);
  for (int32_t i = 0; i < width; ++i) {
    // An error of x affects the value itself, the mean and, in proportion to z, the variance.
    const double z = std::fabs(x[i] - mean) * inverse;
    const double passed = kDot * largest * inverse * std::fabs(weight(0, i)) * (2 + z);
    const double bias = norm.bias.valid() ? n(norm.bias)(0, i) : 0;
    const double own = kNorm * (z * std::fabs(weight(0, i)) + std::fabs(bias));
    bounds.push_back(kEpsilon * (passed + own));
  }
}

}  // namespace peruse::ops
