// A depthwise convolution over the tokens of each text, with zero padding at both ends of the text.
#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out[t, c] = sum_j taps[j, c] x[t + j - (K - 1) / 2, c]                      taps [K, cols], constant
struct DepthwiseConv {
  static constexpr const char* kName = "depthwise_conv";
  static constexpr Reads kReads = Reads::kBatch;

  Value x, taps, out;

  auto Inputs() { return std::array{&x, &taps}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const DepthwiseConv& op, const Shapes& s);
void Compute(const DepthwiseConv& op, const Numbers& n);
void Gradient(const DepthwiseConv& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const DepthwiseConv& op, Value result, const Numbers& n);

}  // namespace peruse::ops
