#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out = norm(x), or norm(x + residual)         x, residual, out [rows, width]
struct LayerNorm {
  static constexpr const char* kName = "layer_norm";
  static constexpr Reads kReads = Reads::kSameRow;

  Value x;
  Value residual;  // set by the fusing pass
  NormArgs norm;
  Value out;

  auto Inputs() { return std::array{&x, &residual, &norm.weight, &norm.bias}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const LayerNorm& op, const Shapes& s);
void Compute(const LayerNorm& op, const Numbers& n);
void Gradient(const LayerNorm& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const LayerNorm& op, Value result, const Numbers& n);

}  // namespace peruse::ops
