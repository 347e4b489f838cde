#pragma once

#include <array>

#include "core/ops/activation.h"
#include "core/ops/value.h"

namespace peruse::ops {

// out = activation(x) * y elementwise; a single row y multiplies every row. Families write x * y; the fusing pass adds the activation.
struct Multiply {
  static constexpr const char* kName = "multiply";
  static constexpr Reads kReads = Reads::kSameRow;

  Value x, y, out;
  Activation activation = Activation::kNone;

  auto Inputs() { return std::array{&x, &y}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Multiply& op, const Shapes& s);
void Compute(const Multiply& op, const Numbers& n);
void Gradient(const Multiply& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Multiply& op, Value result, const Numbers& n);

}  // namespace peruse::ops
