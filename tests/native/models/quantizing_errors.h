// Differences between two computations of a q8 model, relative to the error of quantising it.
//
// The operations agree to float32's rounding (backend/conformance_test.cc). Over a whole model that rounding may move an
// activation across the middle between two integers; it then differs by one step, 1/127 or 1/4095 of its row's largest, as
// does everything that it enters, which moves others. With 127 levels few cross, with 4095 many, each by little. So the
// measure is what quantising moves the model's values by. A missing or misplaced term is wrong in all values.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace peruse::testing {

struct QuantizingErrors {
  double worst = 0;  // relative to the value, or to 1 where it is smaller
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
