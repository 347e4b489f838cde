// The loop of every int8 product. It depends on a type Dot, a dot product of small integers, with
//   kStep            values of k per step; a row's step is four bytes
//   Vector           32-bit sums of kVectorCols columns; half a tile is one vector
//   Weights, Input   a step of one column vector's weights; a step of one row's activations, in every lane
//   Zero, LoadSums, AddTimes, ShiftLeft7            on Vector, modulo 2^32
//   LoadWeights(p), LoadInput(p)                    kWeightBytes and four bytes at p
//   kWidenedBytes, StoreWidened(weights, p)         optional: the loop stores weights in a wider form, for the panel's next tiles
//   Accumulate(sums, weights, input)                sums + their dot product, exact
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/cpu/simd.h"

namespace peruse::cpu {

// Bytes of activations that one step of the inner loop reads, for a tile of four rows.
constexpr int64_t kInt8StepBytes = 16;

// sums += activations * panel for kRows rows and two vectors of columns: 8 sums, 2 weights and 1 input fit in 16 registers. Not unrolled,
// because compilers would interleave the steps and run out of registers.
template <typename Dot, int kRows>
inline void AccumulateInt8(const std::byte* input, const std::byte* panel, const std::byte* panel_end,
                           typename Dot::Vector (&sums)[kRows][2], std::byte* widened = nullptr) {
#pragma clang loop unroll(disable)
  while (panel != panel_end) {
    const typename Dot::Weights left = Dot::LoadWeights(panel);
    const typename Dot::Weights right = Dot::LoadWeights(panel + Dot::kWeightBytes);
    if constexpr (requires { Dot::kWidenedBytes; }) {
      Dot::StoreWidened(left, widened);
      Dot::StoreWidened(right, widened + Dot::kWidenedBytes);
      widened += 2 * Dot::kWidenedBytes;
    }
    for (int r = 0; r < kRows; ++r) {
      const typename Dot::Input value = Dot::LoadInput(input + 4 * r);
      sums[r][0] = Dot::Accumulate(sums[r][0], left, value);
      sums[r][1] = Dot::Accumulate(sums[r][1], right, value);
    }
    panel += 2 * Dot::kWeightBytes;
    input += kInt8StepBytes;
  }
}

// Finishes the sums of a tile: out = sum * (row scale * column scale) + bias, rounding product and sum separately. Int8TileOf accepts any
// type with `rows` and Take in its place.
struct Int8Output {
  const float* row_scales;  // one per row of the tile; four must be readable
  const float* scales;      // one per column of the panel, like the biases; whole panels must be readable
  const float* biases;
  float* out;  // [rows, cols]
  int64_t stride;
  int64_t rows;
  int64_t cols;

  template <typename Dot, int kRows>
  void Take(const typename Dot::Vector (&sums)[kRows][2]) const {
    using namespace simd;  // NOLINT: vector code
    if (rows >= kRows && cols >= 2 * kLanes) return Convert<Dot, kRows>(sums, out, stride);
    float tile[kRows * 2 * kLanes];
    Convert<Dot, kRows>(sums, tile, 2 * kLanes);
    for (int64_t r = 0; r < rows; ++r) std::copy_n(tile + r * 2 * kLanes, cols, out + r * stride);
  }

 private:
  template <typename Dot, int kRows>
  void Convert(const typename Dot::Vector (&sums)[kRows][2], float* to, int64_t to_stride) const {
    using namespace simd;  // NOLINT: vector code
    const Floats column_scales[2] = {Load(scales), Load(scales + kLanes)};
    const Floats column_biases[2] = {Load(biases), Load(biases + kLanes)};
    for (int r = 0; r < kRows; ++r) {
      const Floats row_scale = Set(row_scales[r]);
      for (int half = 0; half < 2; ++half) {
        const Floats product = hn::Mul(hn::ConvertTo(kTag, sums[r][half]), hn::Mul(row_scale, column_scales[half]));
        Store(hn::Add(product, column_biases[half]), to + r * to_stride + half * kLanes);
      }
    }
  }
};

// Computes a tile. Where inputs are shifted, a row's sums are too small by `offsets` (one per row of the tile; null if there is no shift)
// times the column's sum of weights, in each pass over the inputs. With two passes, `steps` steps of the rows' high bytes precede those of
// the low bytes, and the sum is 128 * high + low. Intermediate sums may wrap around; the result fits.
template <typename Dot, int kRows, typename Output>
void Int8TileOf(const std::byte* activations, int64_t steps, int passes, const std::byte* panel, const int32_t* offsets,
                const int32_t* weight_sums, const Output& output, std::byte* widened = nullptr) {
  typename Dot::Vector sums[kRows][2];
  const auto correct = [&] {
    if (offsets == nullptr) return;
    for (int half = 0; half < 2; ++half) {
      const typename Dot::Vector of_column = Dot::LoadSums(weight_sums + half * Dot::kVectorCols);
      for (int r = 0; r < kRows; ++r) sums[r][half] = Dot::AddTimes(sums[r][half], of_column, offsets[r]);
    }
  };
  const std::byte* const panel_end = panel + steps * 2 * Dot::kWeightBytes;
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = Dot::Zero();
  correct();
  AccumulateInt8<Dot, kRows>(activations, panel, panel_end, sums, widened);
  if (passes == 2) {
    for (int r = 0; r < kRows; ++r) {
      for (int half = 0; half < 2; ++half) sums[r][half] = Dot::ShiftLeft7(sums[r][half]);
    }
    correct();
    AccumulateInt8<Dot, kRows>(activations + steps * kInt8StepBytes, panel, panel_end, sums);
  }
  output.template Take<Dot, kRows>(sums);
}

template <typename Dot, typename Output>
void Int8Tile(const std::byte* activations, int64_t steps, int passes, const std::byte* panel, const int32_t* offsets,
              const int32_t* weight_sums, const Output& output, std::byte* widened = nullptr) {
  if (output.rows <= 2) {
    return Int8TileOf<Dot, 2>(activations, steps, passes, panel, offsets, weight_sums, output, widened);
  }
  Int8TileOf<Dot, 4>(activations, steps, passes, panel, offsets, weight_sums, output, widened);
}

}  // namespace peruse::cpu
