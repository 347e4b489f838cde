#pragma once

#include <array>
#include <span>

#include "core/ops/value.h"

namespace peruse::ops {

// A mixture of experts: each row passes only through the linear layers of the `chosen` experts with the largest logits of the router. `weight`
// has the layers of all experts, stacked by outputs. Ties go to the expert with the lower number.
//   Without `sums`: block j of out is the output of the row's expert j for x, in the order of falling logits.
//   With `sums`: expert j reads block j of x, and out is the sum of their outputs, each times the expert's share: its part of the softmax
//   over all experts, or with `among_chosen` over the chosen ones.
struct Experts {
  static constexpr const char* kName = "experts";
  static constexpr Reads kReads = Reads::kSameRow;

  Value x;       // [rows, in], or with `sums` [rows, chosen * in]
  Value router;  // [rows, experts], logits
  LinearId weight;
  int32_t chosen = 1;
  bool sums = false;
  bool among_chosen = false;
  Value out;  // [rows, chosen * outputs], or with `sums` [rows, outputs]

  auto Inputs() { return std::array{&x, &router}; }
  auto Outputs() { return std::array{&out}; }
};

// Writes the numbers of the largest logits, in falling order.
void ChooseExperts(std::span<const float> logits, std::span<int32_t> chosen);

bool Fits(const Experts& op, const Shapes& s);
void Compute(const Experts& op, const Numbers& n);
std::vector<double> Bound(const Experts& op, Value result, const Numbers& n);

}  // namespace peruse::ops
