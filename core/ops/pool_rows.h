#pragma once

#include <array>

#include "core/ops/value.h"

namespace peruse::ops {

// out[r] pools the rows begins[r] + j stride of x for 0 <= j < counts[r]; no rows give zeros. If x is n times wider than out, x [rows,
// cols] is read as [rows * n, cols / n].
struct PoolRows {
  static constexpr const char* kName = "pool_rows";
  static constexpr bool kKeepsResult = true;
  static constexpr Reads kReads = Reads::kBatch;
  enum class Kind : uint8_t {
    kSum,
    kMean,
    kMax,
    kAbsMean,         // mean |x|
    kAbsMax,          // max |x|
    kRootMeanSquare,  // sqrt(mean x^2)
  };

  Value x;
  IndexId begins;
  IndexId counts;
  int32_t stride = 1;
  Kind kind = Kind::kSum;
  Value out;

  auto Inputs() { return std::array{&x}; }
  auto Outputs() { return std::array{&out}; }
};

bool Fits(const PoolRows& op, const Shapes& s);
void Compute(const PoolRows& op, const Numbers& n);
void Gradient(const PoolRows& op, const Numbers& n, const Gradients& g);
std::vector<double> Bound(const PoolRows& op, Value result, const Numbers& n);

// Returns whether the kind pools absolute values (TakesSizes), or a maximum.
constexpr bool TakesSizes(PoolRows::Kind kind) {
  return kind == PoolRows::Kind::kAbsMean || kind == PoolRows::Kind::kAbsMax;
}
constexpr bool TakesLargest(PoolRows::Kind kind) {
  return kind == PoolRows::Kind::kMax || kind == PoolRows::Kind::kAbsMax;
}

}  // namespace peruse::ops
