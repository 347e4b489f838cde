#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out = inputs[number], a matrix that the caller provides for each run.
struct Input {
  static constexpr const char* kName = "input";
  static constexpr Reads kReads = Reads::kBatch;

  int32_t number = 0;
  Value out;
  bool optional = false;  // may be absent if it is only used as a factor (see DropInputs in passes.h)

  auto Inputs() { return std::array<Value*, 0>{}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const Input& op, const Shapes& s);
void Compute(const Input& op, const Numbers& n);
void Gradient(const Input& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const Input& op, Value result, const Numbers& n);

}  // namespace peruse::ops
