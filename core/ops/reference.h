// Types and helpers of the reference implementations (Compute) of operations and of their error bounds (Bound).
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/formats/embedding_table.h"
#include "core/formats/linear_spec.h"
#include "core/ops/activation.h"
#include "core/ops/value.h"
#include "core/tensor/ragged_batch.h"

namespace peruse::ops {

struct Matrix {
  double* data = nullptr;
  int32_t rows = 0;
  int32_t cols = 0;
  int64_t stride = 0;

  double& operator()(int64_t row, int64_t col) const { return data[row * stride + col]; }
};

struct LinearValues {
  LinearSpec spec;
  std::unique_ptr<double[]> weight;  // [out, in / groups], decoded by the format
  std::unique_ptr<double[]> bias;    // [out]
  std::unique_ptr<double[]> scale;   // [out, WeightFormat::RowScales]; empty for float formats
};

struct Numbers {
  std::vector<Matrix> values;                         // indexed by Value
  std::vector<const LinearValues*> linears;           // indexed by LinearId
  std::span<const EmbeddingTable> tables;             // indexed by TableId
  std::span<const std::span<const int32_t>> indices;  // indexed by IndexId
  std::span<const std::span<const float>> inputs;     // indexed by Input::number
  const RaggedBatch* batch = nullptr;

  const Matrix& operator()(Value value) const { return values[static_cast<size_t>(value.id)]; }
  const LinearValues& operator()(LinearId id) const { return *linears[static_cast<size_t>(id.id)]; }
  std::span<const int32_t> operator()(IndexId id) const { return indices[static_cast<size_t>(id.id)]; }
};

struct Gradients {
  struct Linear {
    double* weight = nullptr;  // [out, in / groups]
    double* bias = nullptr;    // [out]
  };
  std::vector<Matrix> values;   // indexed by Value
  std::vector<Linear> linears;  // indexed by LinearId
  std::vector<Matrix> tables;   // indexed by TableId

  const Matrix& operator()(Value value) const { return values[static_cast<size_t>(value.id)]; }
  const Linear& operator()(LinearId id) const { return linears[static_cast<size_t>(id.id)]; }
};

double Activated(double x, Activation activation);
double ActivationSlope(double x, Activation activation);
void Softmax(std::span<double> values);
double Dot(const double* a, const double* b, int32_t n);
// Computes out = x W^T + b for one row. With `sizes` it sums absolute values of products instead, as error bounds need.
void Project(const double* x, const LinearValues& linear, bool sizes, double* out);
// Adds the gradients of x, weight and bias that follow from the gradient of one result row. Not implemented for int8 weights.
void AddProjectGradient(const double* x, const LinearValues& linear, const double* result_gradient, double* x_gradient,
                        const Gradients::Linear& gradient);
void NormRow(const double* x, const NormArgs& norm, const Numbers& n, double* out);
// Calls visit(row t, tap, source) if the source row, t + tap - (taps - 1) / 2, is in the text of t.
void ForEachTap(const RaggedBatch& batch, int32_t taps, const std::function<void(int32_t, int32_t, int32_t)>& visit);
std::vector<double> ForEachCell(const Matrix& matrix, const std::function<double(int32_t, int32_t)>& cell);

// Error bounds: the largest difference of float32 from double. Every factor is derived; never loosen one to pass a test.

// Twice the unit roundoff of float32: the distance from 1 to its neighbour.
inline constexpr double kEpsilon = 1.1920928955078125e-7;

// The error of a float32 sum of products is at most kDot * epsilon * sum of absolute products. Roundings are independent, and partial sums
// of random signs grow with the square root of the number of terms: in total 0.27 root-mean-square, for any number of terms. The worst of
// the tests' 10^5 cells reaches 2.2. A missing, doubled or misplaced term is wrong by thousands.
inline constexpr double kDot = 3;

// kDot for terms of one sign, times the square root of their number. Partial sums then grow with the number of terms, and roundings total
// 0.17 root-mean-square times its square root; the worst case is again eight times as large.
inline constexpr double kDotOfOneSign = 1.35;

// Our vector functions (exp, sigmoid, tanh, GELU) are within 4 epsilon of the function's scale max(|x|, 1).
inline constexpr double kActivation = 4;

// The largest slope of any activation (GELU and its variants have 1.13), which scales the argument's error.
inline constexpr double kActivationSlope = 1.2;

// Layer norm rounds mean, variance, square root, quotient, weight and bias once each.
inline constexpr double kNorm = 4;

// Relative error of a softmax term for exact scores: 2 epsilon of exp, 2 of the sum, 1 of the quotient; rounded up.
inline constexpr double kSoftmax = 6;

// kSoftmax for inexact scores with this sum of absolute products: adds twice the score's error, and that of the sum.
constexpr double SoftmaxFactor(double scores) { return (2 * kDot + 2) * scores + kSoftmax; }

// Bounds the error of activation(x), if x has the error x_error and a sum of absolute products of `magnitude`.
double ActivationBound(Activation activation, double magnitude, double x_error);
// Bounds the error of each value of norm(x), where `magnitudes` are the sums of absolute products of the row x.
void NormBounds(const double* x, const double* magnitudes, const NormArgs& norm, const Numbers& n,
                std::vector<double>& bounds);

}  // namespace peruse::ops
