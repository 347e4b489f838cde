#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// Root-mean-square norm (Zhang and Sennrich, 2019) of every block of `width` columns, which share the weight: the whole row, or each head of
// queries or keys. With y a block of x:
//   out = y / sqrt(mean(y^2) + eps) * (weight + offset)
struct RmsNorm {
  static constexpr const char* kName = "rms_norm";
  static constexpr Reads kReads = Reads::kSameRow;

  Value x;           // [rows, blocks * width]
  Value weight;      // [1, width], constant
  float eps = 0;     // not negative
  float offset = 0;  // Gemma's checkpoints store weights minus 1
  Value out;         // [rows, blocks * width]

  auto Inputs() { return std::array{&x, &weight}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const RmsNorm& op, const Shapes& s);
void Compute(const RmsNorm& op, const Numbers& n);
void Gradient(const RmsNorm& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const RmsNorm& op, Value result, const Numbers& n);

}  // namespace peruse::ops
