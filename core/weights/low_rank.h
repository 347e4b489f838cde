#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"
#include "core/cpu/arena.h"
#include "core/cpu/thread_pool.h"

namespace peruse {

// Adds products of low-rank factors to rows of a matrix: row i becomes row i + scale * left[i] right, in float32 as in peft.
class LowRankSum {
 public:
  // Packs `right`, [rank, cols]. `pool` may be null. Errors: kOutOfMemory.
  static Result<LowRankSum> Create(std::span<const float> right, int64_t rank, int64_t cols, float scale,
                                   const cpu::ThreadPool* pool);

  // rows, out: [count, cols]; left: [count, rank]. `out` must not overlap `rows`. The bits do not depend on the number of threads.
  void Add(const float* rows, const float* left, int64_t count, float* out);

 private:
  LowRankSum(int64_t rank, int64_t cols, float scale, const cpu::ThreadPool* pool)
      : rank_(rank), cols_(cols), scale_(scale), pool_(pool) {}
  void AddColumns(const float* rows, int64_t count, int64_t first, int64_t columns, float* out) const;

  int64_t rank_;
  int64_t cols_;
  float scale_;
  const cpu::ThreadPool* pool_;
  cpu::AlignedBytes right_;  // packed for Gemm
  cpu::AlignedBytes left_;   // rows of the left factor, which Gemm may read past the end
};

}  // namespace peruse
