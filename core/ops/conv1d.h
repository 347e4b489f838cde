// A convolution over the tokens of each text, with zero padding at both ends of the text.
#pragma once

#include <array>

#include "core/ops/activation.h"
#include "core/ops/value.h"

namespace peruse::ops {

// out = activation(conv(x) + b). The weight is [out, K * in / groups]; column j * (in / groups) + i holds tap j and input i of the group.
struct Conv1d {
  static constexpr const char* kName = "conv1d";
  static constexpr Reads kReads = Reads::kBatch;

  Value x;
  LinearId weight;
  int32_t kernel_size = 1;
  Activation activation = Activation::kNone;
  Value out;

  auto Inputs() { return std::array{&x}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Conv1d& op, const Shapes& s);
void Compute(const Conv1d& op, const Numbers& n);
void Gradient(const Conv1d& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Conv1d& op, Value result, const Numbers& n);

}  // namespace peruse::ops
