#pragma once

#include <array>

#include "core/ops/activation.h"
#include "core/ops/value.h"

namespace peruse::ops {

struct Activate {
  static constexpr const char* kName = "activate";
  static constexpr Reads kReads = Reads::kSameRow;

  Value x;
  Activation activation = Activation::kNone;
  Value out;

  auto Inputs() { return std::array{&x}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Activate& op, const Shapes& s);
void Compute(const Activate& op, const Numbers& n);
void Gradient(const Activate& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Activate& op, Value result, const Numbers& n);

}  // namespace peruse::ops
