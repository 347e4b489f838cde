// Adds products of low-rank factors to rows of a matrix, for adapters.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"
#include "core/cpu/arena.h"
#include "core/cpu/thread_pool.h"

namespace peruse::cpu {

// Row i becomes row i + scale * left[i] right, in float32 as in peft.
class LowRankSum {
 public:
  // Packs `right`, [rank, cols]. `pool` may be null. Errors: kOutOfMemory.
  static Result<LowRankSum> Create(std::span<const float> right, int64_t rank, int64_t cols, float scale,
                                   const ThreadPool* pool);

  // rows, out: [count, cols]; left: [count, rank]. `out` must not overlap `rows`. The bits do not depend on the number of threads.
  void Add(const float* rows, const float* left, int64_t count, float* out) const;

 private:
  LowRankSum(int64_t rank, int64_t cols, float scale, const ThreadPool* pool)
      : rank_(rank), cols_(cols), scale_(scale), pool_(pool) {}
  void AddPanel(const float* rows, const float* left, int64_t count, int64_t column, float* out) const;

  int64_t rank_;
  int64_t cols_;
  float scale_;
  const ThreadPool* pool_;
  AlignedBytes right_;  // panels of columns, [rank, columns of a tile] each
};

}  // namespace peruse::cpu
