// The quantisation rule of q8 for weights and activations, in every backend: a row of values becomes integers q and a scale, with
// value ~ q * scale. Weights and 13-bit activations use q in [-levels, levels], and the scale is largest |value| / levels. Other activations
// use the integers between the row's least and largest value (or zero), 2 * levels + 2 at most, and the scale is the difference of these
// two / (2 * levels): rows that are not symmetric, such as outputs of GELU, get up to half the error. Each step is one float32 operation of
// IEEE 754 with rounding to nearest even, so that a row gives the same bits on every machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace peruse {

// For weights (scale per output channel) and token embeddings (scale per row). Excludes -128, so that negation is exact.
inline constexpr int32_t kWeightLevels = 127;
// For activations, with one scale per row. Layers with LinearSpec::wide_input use 13-bit integers instead: all shallow layers, and layers
// after an activation function in a small model, because the scores of a small model are close together, and its products are cheap.
inline constexpr int32_t kInputLevels = 127;
inline constexpr int32_t kWideInputLevels = 4095;
inline constexpr int32_t kShallowDepth = 192;  // layers with at most this many inputs per output are shallow
inline constexpr int32_t kNarrowDepth = 1024;  // at most, of layers after an activation function in a small model

// Returns the levels for the activations of a linear layer with `depth` inputs per output, such that 32-bit sums cannot overflow; 0 if not
// even integers up to 2 * kInputLevels fit. Depends on the layer only, never on the machine.
constexpr int32_t InputLevels(int64_t depth, bool wide) {
  const int64_t room = std::numeric_limits<int32_t>::max() / (kWeightLevels * depth);
  if (room < 2 * kInputLevels) return 0;
  return static_cast<int32_t>(std::min<int64_t>(room, wide ? kWideInputLevels : kInputLevels));
}

struct RowScale {
  float scale;
  float inverse;
};

// `largest_bits` is the bit pattern of the largest |value|: integers order like the values, with NaN above all. A row with NaN or infinity
// gets a NaN scale, so that every result is NaN. A row too small to have an inverse becomes zero.
inline RowScale ScaleOf(uint32_t largest_bits, int32_t levels) {
  const float largest = std::bit_cast<float>(largest_bits);
  if (!std::isfinite(largest)) return {std::numeric_limits<float>::quiet_NaN(), 0};
  const float inverse = static_cast<float>(levels) / largest;
  if (!std::isfinite(inverse)) return {0, 0};
  return {largest / static_cast<float>(levels), inverse};
}

// The least and the largest value of a row, with zero between them. NaN counts as larger than infinity, in the direction of its sign.
struct Extremes {
  float lowest = 0;
  float highest = 0;
};

inline RowScale InputScaleOf(const Extremes& row, int32_t levels, bool wide) {
  if (!wide) return ScaleOf(std::bit_cast<uint32_t>(0.5f * row.highest - 0.5f * row.lowest), levels);
  return ScaleOf(std::max(std::bit_cast<uint32_t>(row.highest), std::bit_cast<uint32_t>(row.lowest) & 0x7FFFFFFFu),
                 levels);
}

uint32_t LargestMagnitude(std::span<const float> values);
Extremes ExtremesOf(std::span<const float> values);

inline bool AllFinite(std::span<const float> values) { return LargestMagnitude(values) < 0x7F800000u; }

// Quantises `values` into `out` of the same size, and returns the scale. Not inlined, because one copy of the code is enough.
template <typename Integer>
[[gnu::noinline]] float QuantizeBy(const RowScale& row, std::span<const float> values, Integer* out) {
  if (row.inverse == 0) {
    std::fill_n(out, values.size(), Integer{0});
    return row.scale;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    // 32 bits, so that compilers vectorize the loop.
    const auto integer = static_cast<int32_t>(std::nearbyint(values[i] * row.inverse));
    out[i] = static_cast<Integer>(integer);
  }
  return row.scale;
}

// A row of weights.
inline float QuantizeRow(std::span<const float> values, int32_t levels, int8_t* out) {
  return QuantizeBy(ScaleOf(LargestMagnitude(values), levels), values, out);
}

// A row of activations.
inline float QuantizeInputs(std::span<const float> values, int32_t levels, bool wide, int16_t* out) {
  return QuantizeBy(InputScaleOf(ExtremesOf(values), levels, wide), values, out);
}

// quantize.cc contains this instance, and is compiled for speed, because loading a model quantises every weight with it.
extern template float QuantizeBy(const RowScale& row, std::span<const float> values, int8_t* out);

}  // namespace peruse
