#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out = [x | y]. Backends never run this operation: a pass makes the producers of x and y write into `out` (place_columns.cc).
struct Concat {
  static constexpr const char* kName = "concat";
  static constexpr bool kKeepsOperands = false;
  static constexpr Reads kReads = Reads::kOperands;

  Value x, y, out;

  auto Inputs() { return std::array{&x, &y}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Concat& op, const Shapes& s);
void Compute(const Concat& op, const Numbers& n);
void Gradient(const Concat& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Concat& op, Value result, const Numbers& n);

}  // namespace peruse::ops
