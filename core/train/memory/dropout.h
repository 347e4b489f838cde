// Dropout masks from a counter-based generator (random_stream.h). A mask is a function of seed, step, operation and index, so the backward
// pass recomputes it.
#pragma once

#include <cstdint>

namespace peruse::train {

struct Dropout {
  float rate = 0;
  uint64_t seed = 0;
  uint32_t step = 0;
  uint32_t part = 0;  // part of the step's batch, below 4096; each part has its own masks

  // Sets row[i] to zero with probability `rate`, otherwise to row[i] / (1 - rate). `place` identifies the dropout layer.
  void Apply(uint32_t place, uint32_t row_number, float* row, int64_t count) const;
};

}  // namespace peruse::train
