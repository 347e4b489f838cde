#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// One direction of an LSTM (torch.nn.LSTM) over the rows of one text. It starts at the first row, or at the last if `reverse`:
//   [i | f | g | o] = gates[t] + h recurrent + bias        h, c: of the preceding step; initially zero
//   c = sigmoid(f) c + sigmoid(i) tanh(g)
//   out[t] = h = sigmoid(o) tanh(c)
struct Lstm {
  static constexpr const char* kName = "lstm";
  static constexpr Reads kReads = Reads::kOperands;

  Value gates;      // [rows, 4 * width]: a linear layer's outputs for the inputs of the LSTM
  Value recurrent;  // [width, 4 * width], constant
  Value bias;       // [1, 4 * width], constant
  bool reverse = false;
  Value out;  // [rows, width]

  auto Inputs() { return std::array{&gates, &recurrent, &bias}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Lstm& op, const Shapes& s);
void Compute(const Lstm& op, const Numbers& n);
void Gradient(const Lstm& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Lstm& op, Value result, const Numbers& n);

}  // namespace peruse::ops
