// What q8 is: the one rule by which values become integers, for weights and activations, in every backend.
//
// A row of values becomes integers q in [-levels, levels] and one scale, largest |value| / levels; value ~ q * scale.
// Symmetric: zero is 0. Every step is one float32 operation of IEEE 754 (quotient, product, rounding to nearest even),
// so that a row gives the same bits on every machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace peruse {

// Weights, by output channel, and rows of word embeddings: -127 to 127 (never -128, so that negation is exact).
inline constexpr int32_t kWeightLevels = 127;
// Activations, by row: as many where the CPU multiplies bytes; 12 bits and a sign where a layer asks for it
// (LinearSpec::wide_input), and in every shallow layer: the answers of a small model lie close together, and its products
// are cheap.
inline constexpr int32_t kInputLevels = 127;
inline constexpr int32_t kWideInputLevels = 4095;
inline constexpr int32_t kShallowDepth = 192;  // inputs of an output

// Levels of the activations of a linear with `depth` inputs to each output: no more than the sums' 32 bits have room
// for. It depends on the layer alone, never on the machine. 0: not even kInputLevels fit.
constexpr int32_t InputLevels(int64_t depth, bool wide) {
  const int64_t room = std::numeric_limits<int32_t>::max() / (kWeightLevels * depth);
  if (room < kInputLevels) return 0;
  return static_cast<int32_t>(std::min<int64_t>(room, wide ? kWideInputLevels : kInputLevels));
}

// The scale of a row, and what to multiply its values with before rounding.
struct RowScale {
  float scale;
  float inverse;
};

// `largest_bits`: the largest |value| as an integer, which orders like the values, NaN above all. A row with NaN or
// infinity gets the scale NaN, so that whatever it enters is NaN; a row too small to have an inverse becomes zero.
inline RowScale ScaleOf(uint32_t largest_bits, int32_t levels) {
  const float largest = std::bit_cast<float>(largest_bits);
  if (!std::isfinite(largest)) return {std::numeric_limits<float>::quiet_NaN(), 0};
  const float inverse = static_cast<float>(levels) / largest;
  if (!std::isfinite(inverse)) return {0, 0};
  return {largest / static_cast<float>(levels), inverse};
}

// The bits of the largest |value|; of no values 0.
uint32_t LargestMagnitude(std::span<const float> values);

// Whether none is NaN or infinity.
inline bool AllFinite(std::span<const float> values) { return LargestMagnitude(values) < 0x7F800000u; }

// Fills `out`, as long as `values`, and returns the scale. Not inline: one copy of it is enough.
template <typename Integer>
[[gnu::noinline]] float QuantizeRow(std::span<const float> values, int32_t levels, Integer* out) {
  const RowScale row = ScaleOf(LargestMagnitude(values), levels);
  if (row.inverse == 0) {
    std::fill_n(out, values.size(), Integer{0});
    return row.scale;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const auto integer = static_cast<int32_t>(std::nearbyint(values[i] * row.inverse));  // 32 bits: vector code
    out[i] = static_cast<Integer>(integer);
  }
  return row.scale;
}

// Of weights: quantize.cc, which is made for speed.
extern template float QuantizeRow(std::span<const float> values, int32_t levels, int8_t* out);

}  // namespace peruse
