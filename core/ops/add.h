#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out = x + y. If y has one row, adds it to every row of x.
struct Add {
  static constexpr const char* kName = "add";
  static constexpr bool kKeepsOperands = false;
  static constexpr Reads kReads = Reads::kSameRow;

  Value x, y, out;

  auto Inputs() { return std::array{&x, &y}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Add& op, const Shapes& s);
void Compute(const Add& op, const Numbers& n);
void Gradient(const Add& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Add& op, Value result, const Numbers& n);

}  // namespace peruse::ops
