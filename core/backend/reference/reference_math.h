// Scalar mathematics of the reference backend, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "core/backend/activation.h"

namespace peruse::reference {

inline double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double Gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

inline double Activate(double x, Activation activation) {
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
  }
  return x;
}

// In place, over all values.
inline void Softmax(std::span<double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& value : values) sum += (value = std::exp(value - largest));
  for (double& value : values) value /= sum;
}

}  // namespace peruse::reference
