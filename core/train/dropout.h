// Dropout masks from a counter-based generator (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011). A mask is a function
// of seed, step, operation and index, so the backward pass recomputes it.
#pragma once

#include <array>
#include <cstdint>

namespace peruse::train {

// Philox 4x32-10, with the seed as key. Counters of all random draws are different:
//   dropout             {column / 4 + part 2^20, row, operation, step}
//   order of an epoch   {example, epoch, 0xFFFFFFFE, 0}
//   start of a tensor   {element, tensor, 0xFFFFFFFF, 0}
//   perturbations       {element, draw, 0xFFFFFFFD, 0}              scale-invariant fine-tuning
//   masked tokens       {element, text, draw, 0xFFFFFFFD}
//   replaced tokens     {row, first text, step, 0xFFFFFFFC}
//   folds, held out     {example, 0, 0xFFFFFFFB, 0}
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

struct Dropout {
  float rate = 0;
  uint64_t seed = 0;
  uint32_t step = 0;
  uint32_t part = 0;  // part of the step's batch, below 4096; each part has its own masks

  // Sets row[i] to zero with probability `rate`, otherwise to row[i] / (1 - rate). `place` identifies the dropout layer.
  void Apply(uint32_t place, uint32_t row_number, float* row, int64_t count) const;
};

}  // namespace peruse::train
