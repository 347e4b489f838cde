#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out[r] = x[rows[r]].
struct SelectRows {
  static constexpr const char* kName = "select_rows";
  static constexpr bool kKeepsOperands = false;
  static constexpr Reads kReads = Reads::kBatch;

  Value x;
  IndexId rows;
  Value out;

  auto Inputs() { return std::array{&x}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const SelectRows& op, const Shapes& s);
void Compute(const SelectRows& op, const Numbers& n);
void Gradient(const SelectRows& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const SelectRows& op, Value result, const Numbers& n);

}  // namespace peruse::ops
