#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// Attention between two matrices, with heads of equal width in consecutive columns. Every query attends to every key, across texts.
//   weights[i, j] = softmax over j (over i if over_queries) of scale query[i] . key[j]
//   out[i] = sum over j of weights[i, j] value[j]              query [n, width], key [m, width], value [m, any], out [n, as value]
struct CrossAttention {
  static constexpr const char* kName = "cross_attention";
  static constexpr Reads kReads = Reads::kOperands;

  Value query, key, value;
  int32_t heads = 1;
  float scale = 1;
  bool over_queries = false;
  Value out;

  auto Inputs() { return std::array{&query, &key, &value}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const CrossAttention& op, const Shapes& s);
void Compute(const CrossAttention& op, const Numbers& n);
void Gradient(const CrossAttention& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const CrossAttention& op, Value result, const Numbers& n);

}  // namespace peruse::ops
