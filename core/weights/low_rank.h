#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"
#include "core/cpu/arena.h"

namespace peruse {

// Adds products of low-rank factors to rows of a matrix: row i becomes row i + scale * left[i] right, in float32 as in peft.
class LowRankSum {
 public:
  // Packs `right`, [rank, cols]. Errors: kOutOfMemory.
  static Result<LowRankSum> Create(std::span<const float> right, int64_t rank, int64_t cols, float scale);

  // rows: [count, cols]; left: [count, rank]
  void AddTo(float* rows, const float* left, int64_t count);

 private:
  LowRankSum(int64_t rank, int64_t cols, float scale) : rank_(rank), cols_(cols), scale_(scale) {}

  int64_t rank_;
  int64_t cols_;
  float scale_;
  cpu::AlignedBytes right_;  // packed for Gemm
  cpu::AlignedBytes left_;   // rows of the left factor, which Gemm may read past the end
  cpu::AlignedBytes tile_;   // their products with a panel of `right`
};

}  // namespace peruse
