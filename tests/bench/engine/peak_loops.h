// The machine's limit: loops of multiply-adds in registers.
#pragma once

#include <cstdint>

#include "core/cpu/int8_dots.h"
#include "core/cpu/int8_kernel.h"
#include "core/cpu/simd.h"

namespace peruse::bench {

inline constexpr int kPeakChains = 10;  // independent sums: enough to hide the latency, and few enough for 16 registers
inline constexpr int kPeakSteps = 2000;

// Returns the number of operations, two for each multiply-add. `sink` keeps the compiler from removing the loop.
__attribute__((noinline)) inline double FloatPeakLoop(float* sink) {
  using namespace simd;  // NOLINT
  Floats sums[kPeakChains];
  for (int c = 0; c < kPeakChains; ++c) sums[c] = Set(static_cast<float>(c) + sink[0]);
  const Floats factor = Set(0.999f + sink[1]);
  const Floats other = Set(0.001f + sink[1]);  // not a constant, which engines would rebuild at each use
  for (int i = 0; i < kPeakSteps; ++i) {
    for (int c = 0; c < kPeakChains; ++c) sums[c] = Madd(factor, other, sums[c]);
  }
  for (int c = 1; c < kPeakChains; ++c) sums[0] = hn::Add(sums[0], sums[c]);
  sink[2] += hn::ReduceSum(kTag, sums[0]);
  return 2.0 * kPeakChains * kPeakSteps * static_cast<double>(kLanes);
}

// Products of 16-bit integers, added in pairs into 32 bits (wasm's i32x4.dot_i16x8_s), which int8 weights use without an exact 8-bit dot
// product.
__attribute__((noinline)) inline double IntegerPeakLoop(float* sink) {
  using namespace simd;  // NOLINT
  constexpr int kValues = 2;
  constexpr int kFactors = 4;
  const hn::RepartitionToNarrow<hn::RebindToSigned<FloatTag>> narrow;
  const hn::RebindToSigned<FloatTag> wide;
  const auto start = static_cast<int16_t>(sink[0]);
  hn::Vec<decltype(narrow)> values[kValues];
  hn::Vec<decltype(narrow)> factors[kFactors];
  hn::Vec<decltype(wide)> sums[kValues * kFactors];
  for (int v = 0; v < kValues; ++v) values[v] = hn::Set(narrow, static_cast<int16_t>(start + v));
  for (int f = 0; f < kFactors; ++f) factors[f] = hn::Set(narrow, static_cast<int16_t>(start + 3 * f));
  for (auto& sum : sums) sum = hn::Zero(wide);
  for (int i = 0; i < kPeakSteps; ++i) {
    for (int c = 0; c < kValues * kFactors; ++c) {
      sums[c] = hn::Add(sums[c], hn::WidenMulPairwiseAdd(wide, values[c / kFactors], factors[c % kFactors]));
    }
    for (auto& value : values) value = hn::Add(value, factors[1]);  // prevents moving products out of the loop
  }
  for (int c = 1; c < kValues * kFactors; ++c) sums[0] = hn::Add(sums[0], sums[c]);
  sink[2] += static_cast<float>(hn::ReduceSum(wide, sums[0]) & 1);
  return 2.0 * kValues * kFactors * kPeakSteps * 2.0 * static_cast<double>(kLanes);
}

#if defined(__wasm_relaxed_simd__)

// Products of bytes, added in fours into 32 bits (wasm's relaxed dot product), which q8 uses where that is exact.
__attribute__((noinline)) inline double BytePeakLoop(float* sink) {
  using cpu::DotRelaxed;
  const auto* start = reinterpret_cast<const std::byte*>(sink);
  const DotRelaxed::Weights weights = DotRelaxed::LoadWeights(start);
  const DotRelaxed::Input input = DotRelaxed::LoadInput(start);
  DotRelaxed::Vector sums[kPeakChains];
  for (auto& sum : sums) sum = DotRelaxed::Zero();
  for (int i = 0; i < kPeakSteps; ++i) {
    for (auto& sum : sums) sum = DotRelaxed::Accumulate(sum, weights, input);
  }
  for (int c = 1; c < kPeakChains; ++c) sums[0] = simd::hn::Add(sums[0], sums[c]);
  sink[2] += static_cast<float>(simd::hn::ReduceSum(DotRelaxed::kInts, sums[0]) & 1);
  return 2.0 * kPeakChains * kPeakSteps * 16;
}

// The same products with the loads that a tile of 4 x 8 sums needs, from the first cache: the inner loop of every int8 product.
__attribute__((noinline)) inline double LoadedBytePeakLoop(float* sink) {
  using cpu::DotRelaxed;
  constexpr int kRows = 4;
  constexpr int kDepthSteps = 96;  // of 384 inputs
  alignas(64) static std::byte panel[kDepthSteps * 2 * DotRelaxed::kWeightBytes];
  alignas(64) static std::byte inputs[kDepthSteps * cpu::kInt8StepBytes];
  constexpr int kTiles = 2 * kPeakSteps / kDepthSteps;
  int32_t total = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    DotRelaxed::Vector sums[kRows][2];
    for (auto& row : sums) row[0] = row[1] = DotRelaxed::Zero();
    cpu::AccumulateInt8<DotRelaxed, kRows>(inputs, panel, panel + sizeof(panel), sums);
    for (auto& row : sums) total += simd::hn::GetLane(simd::hn::Add(row[0], row[1]));
  }
  sink[2] += static_cast<float>(total & 1);
  return 2.0 * kTiles * kDepthSteps * kRows * 2 * 16;
}

#endif

}  // namespace peruse::bench
