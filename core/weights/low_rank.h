#pragma once

#include <cstddef>
#include <vector>

namespace peruse {

// Adds products of low-rank factors to rows of a matrix: row i becomes row i + scale * left[i] right, in float32 as in peft.
class LowRankSum {
 public:
  // `right` is [rank, cols] and must outlive the object.
  LowRankSum(const float* right, size_t rank, size_t cols, float scale)
      : right_(right), rank_(rank), cols_(cols), scale_(scale) {}

  // rows: [count, cols]; left: [count, rank]
  void AddTo(float* rows, const float* left, size_t count);

 private:
  const float* right_;
  size_t rank_;
  size_t cols_;
  float scale_;
  std::vector<float> panel_;  // the columns of `right` that are multiplied, [rank, kPanel]
};

}  // namespace peruse
