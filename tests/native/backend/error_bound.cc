#include "tests/native/backend/error_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/backend/reference/reference_backend.h"
#include "tests/native/tolerances.h"

namespace peruse::testing {
namespace {

using Op = Operation;
using tolerance::kEpsilon;

HostMatrix Abs(HostMatrix matrix) {
  for (float& value : matrix.values) value = std::fabs(value);
  return matrix;
}

HostMatrix Evaluate(const OperationCase& c, const std::vector<HostMatrix>& operands) {
  const auto backend = CreateReferenceBackend();
  return RunCase(*backend, c, operands).outputs[0];
}

// The case without activation, strides and extra outputs.
OperationCase Plain(OperationCase c, Operation operation) {
  c.operation = operation;
  c.activation = Activation::kNone;
  c.strided_in = c.strided_out = c.extra_output = false;
  return c;
}

// Sums of absolute products of an operation that is linear in the operands listed.
HostMatrix Magnitudes(const OperationCase& c, std::vector<HostMatrix> operands) {
  for (HostMatrix& operand : operands) operand = Abs(std::move(operand));
  return Evaluate(c, operands);
}

std::vector<double> Scaled(const HostMatrix& matrix, double factor) {
  std::vector<double> bounds;
  for (float value : matrix.values) bounds.push_back(factor * std::fabs(value));
  return bounds;
}

// What goes into the norm, and the sum of absolute products that it is made of.
std::pair<HostMatrix, HostMatrix> NormInput(const OperationCase& c, const std::vector<HostMatrix>& operands) {
  HostMatrix sum = operands[0];
  HostMatrix magnitude = Abs(operands[0]);
  size_t added = c.operation == Op::kAddNorm ? 1 : 0;
  if (c.operation == Op::kLinearAddNorm) {
    const std::vector<HostMatrix> linear(operands.begin(), operands.begin() + 3);
    sum = Evaluate(Plain(c, Op::kLinear), linear);
    magnitude = Magnitudes(Plain(c, Op::kLinear), linear);
    added = 3;
  }
  if (added != 0) {
    for (size_t i = 0; i < sum.values.size(); ++i) {
      sum.values[i] += operands[added].values[i];
      magnitude.values[i] += std::fabs(operands[added].values[i]);
    }
  }
  return {std::move(sum), std::move(magnitude)};
}

std::vector<double> NormBounds(const OperationCase& c, const std::vector<HostMatrix>& operands) {
  const auto [x, magnitude] = NormInput(c, operands);
  const HostMatrix& weight = operands[operands.size() - 2];
  const HostMatrix& bias = operands[operands.size() - 1];
  std::vector<double> bounds;
  for (int32_t r = 0; r < x.rows; ++r) {
    double mean = 0;
    double variance = 0;
    double largest = 0;
    for (int32_t i = 0; i < x.cols; ++i) mean += double{x.at(r, i)} / x.cols;
    for (int32_t i = 0; i < x.cols; ++i) {
      variance += (x.at(r, i) - mean) * (x.at(r, i) - mean) / x.cols;
      largest = std::max(largest, double{magnitude.at(r, i)});
    }
    const double inverse = 1 / std::sqrt(variance + 1e-7);
    for (int32_t i = 0; i < x.cols; ++i) {
      // The input's error passes through the value, the mean, and, in proportion to z, the variance.
      const double z = std::fabs(x.at(r, i) - mean) * inverse;
      const double passed = tolerance::kDot * largest * inverse * std::fabs(weight.at(0, i)) * (2 + z);
      const double own = tolerance::kNorm * (z * std::fabs(weight.at(0, i)) + std::fabs(bias.at(0, i)));
      bounds.push_back(kEpsilon * (passed + own));
    }
  }
  return bounds;
}

// The largest sum of absolute products of the scores of each [row * heads + head].
std::vector<double> ScoreMagnitudes(const OperationCase& c, const std::vector<HostMatrix>& operands) {
  const int32_t head_dim = c.cols / c.heads;
  const std::vector<int32_t> slots = MakeSlots(c);
  const auto dot = [&](const HostMatrix& a, int32_t i, const HostMatrix& b, int32_t j, int32_t head) {
    double sum = 0;
    for (int32_t k = head * head_dim; k < (head + 1) * head_dim; ++k) sum += std::fabs(a.at(i, k) * b.at(j, k));
    return sum;
  };
  std::vector<double> largest(static_cast<size_t>(c.rows()) * static_cast<size_t>(c.heads));
  int32_t start = 0;
  for (int32_t length : c.lengths) {
    for (int32_t i = start; i < start + length; ++i) {
      for (int32_t j = start; j < start + length; ++j) {
        const int32_t slot = slots[static_cast<size_t>(i - j + Reach(c) - 1)];
        for (int32_t h = 0; h < c.heads; ++h) {
          double sum = dot(operands[0], i, operands[1], j, h);
          if (c.position_key) sum += dot(operands[0], i, operands[3], slot, h);
          if (c.position_query) sum += dot(operands[1], j, operands[4], slot, h);
          double& cell = largest[static_cast<size_t>(i) * static_cast<size_t>(c.heads) + static_cast<size_t>(h)];
          cell = std::max(cell, sum);
        }
      }
    }
    start += length;
  }
  return largest;
}

// A softmax term relative to itself: twice the scores' error (its own and the sum's), and the softmax's own.
double SoftmaxFactor(double scores) { return (2 * tolerance::kDot + 2) * scores + tolerance::kSoftmax; }

std::vector<std::vector<double>> AttentionBounds(const OperationCase& c, const std::vector<HostMatrix>& operands,
                                                 const Outcome& expected) {
  const std::vector<double> scores = ScoreMagnitudes(c, operands);
  std::vector<HostMatrix> with_abs_values = operands;
  with_abs_values[2] = Abs(operands[2]);
  const HostMatrix magnitude = Evaluate(Plain(c, c.operation), with_abs_values);
  std::vector<std::vector<double>> bounds(1);
  for (int32_t r = 0; r < c.rows(); ++r) {
    for (int32_t i = 0; i < c.cols; ++i) {
      const double score = scores[static_cast<size_t>(r * c.heads + i / (c.cols / c.heads))];
      bounds[0].push_back(kEpsilon * (SoftmaxFactor(score) + tolerance::kDot) * magnitude.at(r, i));
    }
  }
  if (!c.extra_output) return bounds;
  const double largest = *std::max_element(scores.begin(), scores.end());
  bounds.push_back(Scaled(expected.outputs[1], kEpsilon * SoftmaxFactor(largest)));
  return bounds;
}

std::vector<std::vector<double>> SpanConvBounds(const OperationCase& c, const std::vector<HostMatrix>& operands,
                                                const Outcome& expected) {
  double largest = 0;
  for (float logit : operands[0].values) largest = std::max(largest, double{std::fabs(logit)});
  const HostMatrix magnitude = Evaluate(Plain(c, c.operation), {operands[0], Abs(operands[1])});
  std::vector<std::vector<double>> bounds;
  bounds.push_back(Scaled(magnitude, kEpsilon * (2 * largest + tolerance::kSoftmax + tolerance::kDot)));
  if (c.extra_output) bounds.push_back(Scaled(expected.outputs[1], kEpsilon * (2 * largest + tolerance::kSoftmax)));
  return bounds;
}

// The same where the logits are a linear layer of x, with an error of their own.
std::vector<std::vector<double>> LinearSpanConvBounds(const OperationCase& c, const std::vector<HostMatrix>& operands,
                                                      const Outcome& expected) {
  OperationCase linear = Plain(c, Op::kLinear);
  linear.out = c.heads * c.kernel;
  const HostMatrix logits = Magnitudes(linear, {operands[0], operands[1], operands[2]});
  const double largest = *std::max_element(logits.values.begin(), logits.values.end());
  const HostMatrix magnitude =
      Evaluate(Plain(c, c.operation), {operands[0], operands[1], operands[2], Abs(operands[3])});
  std::vector<std::vector<double>> bounds;
  bounds.push_back(Scaled(magnitude, kEpsilon * (SoftmaxFactor(largest) + tolerance::kDot)));
  if (c.extra_output) bounds.push_back(Scaled(expected.outputs[1], kEpsilon * SoftmaxFactor(largest)));
  return bounds;
}

// Of activation(x) where x has been computed with an error of x_error and a sum of absolute products of magnitude.
double ActivationBound(Activation activation, double magnitude, double x_error) {
  if (activation == Activation::kNone) return x_error;
  return tolerance::kActivationSlope * x_error + kEpsilon * tolerance::kActivation * std::max(magnitude, 1.0);
}

}  // namespace

std::vector<std::vector<double>> ErrorBounds(const OperationCase& c, const std::vector<HostMatrix>& operands,
                                             const Outcome& expected) {
  switch (c.operation) {
    case Op::kLinear:
    case Op::kLinearMultiply:
    case Op::kConv1d:
    case Op::kDepthwiseConv:
    case Op::kMultiply:
    case Op::kAdd: {
      const double factor = kEpsilon * tolerance::kDot;
      std::vector<double> bounds;
      for (float magnitude : Magnitudes(Plain(c, c.operation), operands).values) {
        bounds.push_back(ActivationBound(c.activation, magnitude, factor * magnitude));
      }
      return {bounds};
    }
    case Op::kLinearAddNorm:
    case Op::kLayerNorm:
    case Op::kAddNorm:
      return {NormBounds(c, operands)};
    case Op::kAttention:
    case Op::kDisentangledAttention:
      return AttentionBounds(c, operands, expected);
    case Op::kSpanConv:
      return SpanConvBounds(c, operands, expected);
    case Op::kLinearSpanConv:
      return LinearSpanConvBounds(c, operands, expected);
    case Op::kActivate: {
      std::vector<double> bounds;
      for (float x : operands[0].values) bounds.push_back(ActivationBound(c.activation, std::fabs(x), 0));
      return {bounds};
    }
    case Op::kSelectRows:
      return {std::vector<double>(expected.outputs[0].values.size(), 0.0)};
  }
  return {};
}

}  // namespace peruse::testing
