// Measures the difference between two computations of a q8 model relative to the quantisation error. In a whole model, float32 rounding may
// move an activation across the midpoint between two integers; it then changes by one step, and so do later values. A missing or misplaced
// term is wrong in all values.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace peruse::testing {

struct QuantizingErrors {
  double worst = 0;  // relative to the value, or to 1 if the value is smaller
  double squares = 0;

  void Add(std::span<const float> actual, std::span<const float> expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) {
      const double error = std::abs(actual[i] - expected[i]) / std::max(1.0f, std::abs(expected[i]));
      worst = std::isnan(error) ? error : std::max(worst, error);
      squares += (double{actual[i]} - expected[i]) * (double{actual[i]} - expected[i]);
    }
  }
};

}  // namespace peruse::testing
