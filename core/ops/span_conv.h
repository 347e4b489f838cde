#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// Span-based dynamic convolution (Jiang et al., 2020, equation 6): a softmax over each head's K taps, then out[t, c] = sum_j kernel[t,
// head(c), j] values[t + j - (K - 1) / 2, c]. Taps outside the text add zero; the softmax is not renormalised.
struct SpanConv {
  static constexpr const char* kName = "span_conv";
  static constexpr Reads kReads = Reads::kBatch;

  // [tokens, heads * K]. If `weight` is valid, this is instead the input x of the linear layer that computes the logits, x W^T + b.
  Value logits;
  LinearId weight;  // invalid unless the fusing pass sets it
  Value values;     // [tokens, width]
  int32_t heads = 1;
  int32_t kernel_size = 1;  // K
  Value out;                // [tokens, width]
  Value kernels;            // [tokens, heads * K], the softmax; invalid unless requested

  auto Inputs() { return std::array{&logits, &values}; }
  auto Outputs() { return std::array{&out, &kernels}; }
};

bool Fits(const SpanConv& op, const Shapes& s);
void Compute(const SpanConv& op, const Numbers& n);
void Gradient(const SpanConv& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const SpanConv& op, Value result, const Numbers& n);

}  // namespace peruse::ops
