// The biases of attention with linear biases (Press et al., 2022): a table with a row for each distance, symmetric as in encoders.
#pragma once

#include <array>
#include <vector>

#include "core/ops/value.h"

namespace peruse::ops {

// out(r, h) = -slope_h |r - center|, with slope_h rounded to float32.
struct AlibiBias {
  static constexpr const char* kName = "alibi_bias";
  static constexpr Reads kReads = Reads::kOperands;

  int32_t center = 0;  // the row of `out` that belongs to distance 0
  Value out;           // [distances, heads]

  auto Inputs() { return std::array<Value*, 0>{}; }
  auto Outputs() { return std::array{&out}; }
};

// Returns the slope of each head: the powers of 2^(-8 / heads) if `heads` is a power of two. Otherwise those of the power of two below, and
// then every second slope of the power of two above.
std::vector<float> AlibiSlopes(int32_t heads);

// The operation in float32, shared by all backends. Rows of `out` are `stride` floats apart.
void FillBiases(const AlibiBias& op, int32_t rows, int32_t heads, float* out, int64_t stride);

bool Fits(const AlibiBias& op, const Shapes& s);
void Compute(const AlibiBias& op, const Numbers& n);
void Gradient(const AlibiBias& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const AlibiBias& op, Value result, const Numbers& n);

}  // namespace peruse::ops
