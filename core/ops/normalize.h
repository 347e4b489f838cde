#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// Scales rows to unit length: out[r] = x[r] / max(|x[r]|, eps), where |.| is the L2 norm.
struct Normalize {
  static constexpr const char* kName = "normalize";
  static constexpr Reads kReads = Reads::kSameRow;

  Value x;
  float eps = 0;
  Value out;

  auto Inputs() { return std::array{&x}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Normalize& op, const Shapes& s);
void Compute(const Normalize& op, const Numbers& n);
void Gradient(const Normalize& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Normalize& op, Value result, const Numbers& n);

}  // namespace peruse::ops
