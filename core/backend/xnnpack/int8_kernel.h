// The loop that every int8 product is, over what a machine offers as its dot product of small integers.
//
// A Dot has
//   kStep            values of k in one step; a row's are four bytes
//   Vector           32-bit sums of kVectorCols columns; half a tile is one vector
//   Weights, Input   a step of one column vector's weights; a step of one row's activations, in every lane
//   Zero, LoadSums, StoreSums, Add, ShiftLeft7      on Vector, modulo 2^32
//   LoadWeights(p), LoadInput(p)                    kWeightBytes and four bytes at p
//   Accumulate(sums, weights, input)                sums + their dot product, exact
#pragma once

#include <cstddef>
#include <cstdint>

namespace peruse::xnnpack {

constexpr int64_t kInt8StepBytes = 16;  // of a tile of four rows

// sums += activations * panel for kRows rows and two vectors of columns: 8 sums, 2 weights and 1 input live in 16
// registers. The rows' steps lie side by side, so that one address serves all. Not unrolled: compilers mix the steps of
// an unrolled loop, and then registers run out.
template <typename Dot, int kRows>
inline void AccumulateInt8(const std::byte* input, const std::byte* panel, const std::byte* panel_end,
                           typename Dot::Vector (&sums)[kRows][2]) {
#pragma clang loop unroll(disable)
  while (panel != panel_end) {
    const typename Dot::Weights left = Dot::LoadWeights(panel);
    const typename Dot::Weights right = Dot::LoadWeights(panel + Dot::kWeightBytes);
    for (int r = 0; r < kRows; ++r) {
      const typename Dot::Input value = Dot::LoadInput(input + 4 * r);
      sums[r][0] = Dot::Accumulate(sums[r][0], left, value);
      sums[r][1] = Dot::Accumulate(sums[r][1], right, value);
    }
    panel += 2 * Dot::kWeightBytes;
    input += kInt8StepBytes;
  }
}

// One tile. `correction`: what to add to each column's sum for every pass over the inputs; null: nothing. With two
// passes the rows' high parts come first, `steps` steps of them, and then their low parts: the sum is 128 * high + low.
// Intermediate sums may wrap around, the result, which fits, is right all the same.
template <typename Dot, int kRows>
void Int8TileOf(const std::byte* activations, int64_t steps, int passes, const std::byte* panel,
                const int32_t* correction, int32_t* result) {
  typename Dot::Vector sums[kRows][2];
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = Dot::Zero();
  for (int pass = 0; pass < passes; ++pass) {
    for (int r = 0; r < kRows; ++r) {
      for (int half = 0; half < 2; ++half) {
        if (pass > 0) sums[r][half] = Dot::ShiftLeft7(sums[r][half]);
        if (correction != nullptr) {
          sums[r][half] = Dot::Add(sums[r][half], Dot::LoadSums(correction + half * Dot::kVectorCols));
        }
      }
    }
    AccumulateInt8<Dot, kRows>(activations, panel, panel + steps * 2 * Dot::kWeightBytes, sums);
    activations += steps * kInt8StepBytes;
  }
  for (int r = 0; r < kRows; ++r) {
    for (int half = 0; half < 2; ++half) Dot::StoreSums(sums[r][half], result + (2 * r + half) * Dot::kVectorCols);
  }
}

// `result` has room for four rows.
template <typename Dot>
void Int8Tile(const std::byte* activations, int64_t rows, int64_t steps, int passes, const std::byte* panel,
              const int32_t* correction, int32_t* result) {
  if (rows <= 2) return Int8TileOf<Dot, 2>(activations, steps, passes, panel, correction, result);
  Int8TileOf<Dot, 4>(activations, steps, passes, panel, correction, result);
}

}  // namespace peruse::xnnpack
