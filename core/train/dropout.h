// Dropout masks from a counter-based generator (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011): a function of
// seed, step, place and index, so that the reverse pass makes them anew and nothing is stored.
#pragma once

#include <array>
#include <cstdint>

namespace peruse::train {

// Philox 4x32-10.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

struct Dropout {
  float rate = 0;
  uint64_t seed = 0;
  uint32_t step = 0;

  // row[i] becomes zero with probability `rate`, else row[i] / (1 - rate). `place`: number of the layer of dropout.
  void Apply(uint32_t place, uint32_t row_number, float* row, int64_t count) const;
};

}  // namespace peruse::train
