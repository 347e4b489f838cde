// The product of two matrices, element by element.
#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out = x * y; y may have one row, which multiplies every row
struct Multiply {
  static constexpr const char* kName = "multiply";
  static constexpr bool kByRow = true;

  Value x, y, out;

  auto Inputs() { return std::array{&x, &y}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Multiply& op, const Shapes& s);
void Compute(const Multiply& op, const Numbers& n);
void Gradient(const Multiply& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Multiply& op, Value result, const Numbers& n);

}  // namespace peruse::ops
