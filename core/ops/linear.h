// A linear layer, and what may happen to its result on the way out.
#pragma once

#include <array>

#include "core/ops/activation.h"
#include "core/ops/value.h"

namespace peruse::ops {

// out = finish(x W^T + b)                      x [rows, in], out [rows, out]
//
// finish is one of: an activation function; "* factor"; "norm(. + residual)". Families write Linear alone; the others come
// from the pass that fuses (core/program/passes/fuse.h).
struct Linear {
  static constexpr const char* kName = "linear";
  static constexpr bool kByRow = true;

  Value x;
  LinearId weight;
  Activation activation = Activation::kNone;
  Value factor;    // [rows, out]
  Value residual;  // [rows, out]
  NormArgs norm;
  Value out;
  bool first_outputs =
      false;  // out has fewer columns; of a plain linear of one group, from core/program/passes/hoist.cc

  bool plain() const { return activation == Activation::kNone && !factor.valid() && !norm.valid(); }

  auto Inputs() { return std::array{&x, &factor, &residual, &norm.weight, &norm.bias}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Linear& op, const Shapes& s);
void Compute(const Linear& op, const Numbers& n);
void Gradient(const Linear& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Linear& op, Value result, const Numbers& n);

}  // namespace peruse::ops
