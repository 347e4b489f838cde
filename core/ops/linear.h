#pragma once

#include <array>

#include "core/ops/activation.h"
#include "core/ops/value.h"

namespace peruse::ops {

// out = finish(x W^T + b), x [rows, in], out [rows, out]. finish is an activation function, "* factor" or "norm(. + residual)". Families
// write plain layers; the fusing pass (core/program/passes/fuse.cc) adds finish.
struct Linear {
  static constexpr const char* kName = "linear";
  static constexpr Reads kReads = Reads::kSameRow;

  Value x;
  LinearId weight;
  Activation activation = Activation::kNone;
  Value factor;    // [rows, out]
  Value residual;  // [rows, out]
  NormArgs norm;
  Value out;
  // Computes only the outputs [first, first + columns of `out`). Only in a plain layer with one group, set by
  // core/program/passes/hoist.cc and by heads that read their products in parts. `first` is a multiple of kPartMultiple.
  bool some_outputs = false;
  int32_t first = 0;
  static constexpr int32_t kPartMultiple = 64;

  bool plain() const { return activation == Activation::kNone && !factor.valid() && !norm.valid(); }

  auto Inputs() { return std::array{&x, &factor, &residual, &norm.weight, &norm.bias}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Linear& op, const Shapes& s);
void Compute(const Linear& op, const Numbers& n);
void Gradient(const Linear& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Linear& op, Value result, const Numbers& n);

}  // namespace peruse::ops
