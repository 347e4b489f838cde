// From logits to probabilities, in place. Accumulated in double; results are float.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace peruse {

// exp(x - max) / sum; all zeros stay finite. Does nothing to an empty span.
inline void Softmax(std::span<float> values) {
  if (values.empty()) return;
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (float value : values) sum += std::exp(value - largest);
  for (float& value : values) value = static_cast<float>(std::exp(value - largest) / sum);
}

inline void Sigmoid(std::span<float> values) {
  for (float& value : values) value = static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(value))));
}

}  // namespace peruse
