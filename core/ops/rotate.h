#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// Rotates queries or keys by their positions (Su et al., 2021, equation 34), in the half layout of GPT-NeoX. In each head, with c and s the
// cosine and sine in `angles` for column j < head_dim / 2:
//   out[j] = c x[j] - s x[j + head_dim / 2],    out[j + head_dim / 2] = c x[j + head_dim / 2] + s x[j]
struct Rotate {
  static constexpr const char* kName = "rotate";
  static constexpr Reads kReads = Reads::kSameRow;

  Value x;       // [rows, heads * head_dim]
  Value angles;  // [rows, head_dim], from RotaryAngles
  Value out;     // [rows, heads * head_dim]

  auto Inputs() { return std::array{&x, &angles}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Rotate& op, const Shapes& s);
void Compute(const Rotate& op, const Numbers& n);
void Gradient(const Rotate& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Rotate& op, Value result, const Numbers& n);

}  // namespace peruse::ops
