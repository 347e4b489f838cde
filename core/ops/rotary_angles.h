#pragma once

#include <array>
#include <span>

#include "core/ops/value.h"

namespace peruse::ops {

// Rotary position embeddings (Su et al., 2021, section 3.2.2), a row per token. At position p, column j < head_dim / 2 is cos(p f_j) and
// column head_dim / 2 + j is sin(p f_j). f_j = theta^(-2 j / head_dim) / divisor, rounded to float32 as in transformers.
struct RotaryAngles {
  static constexpr const char* kName = "rotary_angles";
  static constexpr bool kByRow = false;

  IndexId positions;  // [tokens]
  float theta = 10000;
  float divisor = 1;  // divides every frequency
  Value out;          // [tokens, head_dim]

  auto Inputs() { return std::array<Value*, 0>{}; }
  auto Outputs() { return std::array{&out}; }
};

float RotaryFrequency(const RotaryAngles& op, int32_t j, int32_t head_dim);

// Computes the operation in float32, for all backends. Rows of `out` are `stride` floats apart.
void FillAngles(const RotaryAngles& op, std::span<const int32_t> positions, int32_t head_dim, float* out,
                int64_t stride);

bool Fits(const RotaryAngles& op, const Shapes& s);
void Compute(const RotaryAngles& op, const Numbers& n);
void Gradient(const RotaryAngles& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const RotaryAngles& op, Value result, const Numbers& n);

}  // namespace peruse::ops
