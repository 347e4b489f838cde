#include "core/backend/cpu/relative_positions.h"

namespace peruse::cpu {

PositionRuns::PositionRuns(std::span<const int32_t> slots, int32_t longest, int32_t* scratch)
    : longest_(longest), run_(scratch), slot_(run_ + 2 * longest - 1), first_(slot_ + 2 * longest - 1) {
  int32_t straight = 0;  // number of consecutive distances so far that have a run of their own
  for (int32_t distance = -(longest - 1); distance < longest; ++distance) {
    const int32_t slot = slots[static_cast<size_t>(distance + longest - 1)];
    if (count_ > 0 && slot == slot_[count_ - 1]) {
      // The current run has several distances, so the interval restarts after it.
      straight = 0;
    } else {
      slot_[count_] = slot;
      first_[count_] = distance;
      ++count_;
      ++straight;
    }
    run_[distance + longest - 1] = count_ - 1;
    if (straight > straight_last_ - straight_first_ + 1) {
      straight_last_ = distance;
      straight_first_ = distance - straight + 1;
    }
  }
  first_[count_] = longest;
}

}  // namespace peruse::cpu
