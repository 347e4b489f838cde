// Arranges DeBERTa's two position terms as banded matrix products. All pairs (i, j) with one distance i - j share a slot, and often several
// consecutive distances do (log buckets, clamping). Consecutive distances with one slot form a run, which is one row of a product.
#pragma once

#include <cstdint>
#include <span>

namespace peruse::cpu {

// Covers the distances in (-longest, longest). All tables are views of one scratch buffer.
class PositionRuns {
 public:
  static int64_t ScratchInts(int64_t longest) { return 3 * (2 * longest - 1) + 1; }

  PositionRuns() = default;
  // slots: [2 * longest - 1], indexed by distance
  PositionRuns(std::span<const int32_t> slots, int32_t longest, int32_t* scratch);

  // Returns the run that contains a distance. Runs are numbered in ascending order of distance.
  int32_t run(int64_t distance) const { return run_[distance + longest_ - 1]; }
  int32_t slot(int64_t run) const { return slot_[run]; }
  // A run consists of the distances [first(run), first(run + 1)).
  int32_t first(int64_t run) const { return first_[run]; }
  int32_t count() const { return count_; }

  // [straight_first(), straight_last()] is the longest interval of distances that each have a run of their own.
  int32_t straight_first() const { return straight_first_; }
  int32_t straight_last() const { return straight_last_; }

 private:
  int32_t longest_ = 0;
  int32_t count_ = 0;
  int32_t straight_first_ = 0;
  int32_t straight_last_ = -1;
  int32_t* run_ = nullptr;    // [2 * longest - 1], indexed by distance
  int32_t* slot_ = nullptr;   // [count]
  int32_t* first_ = nullptr;  // [count + 1]
};

}  // namespace peruse::cpu
