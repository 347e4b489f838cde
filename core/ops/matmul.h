#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out = x y^T, with x [n, width], y [m, width], out [n, m].
struct MatMul {
  static constexpr const char* kName = "matmul";
  static constexpr Reads kReads = Reads::kOperands;

  Value x, y, out;

  auto Inputs() { return std::array{&x, &y}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const MatMul& op, const Shapes& s);
void Compute(const MatMul& op, const Numbers& n);
void Gradient(const MatMul& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const MatMul& op, Value result, const Numbers& n);

}  // namespace peruse::ops
