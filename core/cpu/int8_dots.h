#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/cpu/simd.h"

#if defined(__wasm__)
#include <wasm_simd128.h>
#endif

namespace peruse::cpu {

inline int32_t LoadInt32(const std::byte* p) {
  int32_t value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

// Vectors of 32-bit sums, as wide as the build's instruction set allows.
struct VectorSums {
  using Tag = simd::hn::ScalableTag<int32_t>;
  using Vector = simd::hn::Vec<Tag>;
  static constexpr Tag kInts{};
  static constexpr int64_t kVectorCols = simd::hn::MaxLanes(Tag());

  static Vector Zero() { return simd::hn::Zero(kInts); }
  static Vector LoadSums(const int32_t* p) { return simd::hn::LoadU(kInts, p); }
  static Vector AddTimes(Vector sums, Vector v, int32_t factor) {
    return simd::hn::Add(sums, simd::hn::Mul(v, simd::hn::Set(kInts, factor)));
  }
  static Vector ShiftLeft7(Vector v) { return simd::hn::ShiftLeft<7>(v); }
};

// Multiplies pairs of 16-bit numbers (x86: pmaddwd, wasm: i32x4.dot_i16x8_s).
struct DotI16 : VectorSums {
  using Shorts = simd::hn::Repartition<int16_t, Tag>;
  using Weights = simd::hn::Vec<Shorts>;
  using Input = simd::hn::Vec<Shorts>;
  static constexpr Shorts kShorts{};
  static constexpr int64_t kStep = 2;
  static constexpr int64_t kWeightBytes = 4 * kVectorCols;

  static Weights LoadWeights(const std::byte* p) {
    return simd::hn::LoadU(kShorts, reinterpret_cast<const int16_t*>(p));
  }
  static Input LoadInput(const std::byte* p) { return simd::hn::BitCast(kShorts, simd::hn::Set(kInts, LoadInt32(p))); }
  static Vector Accumulate(Vector sums, Weights weights, Input input) {
    return simd::hn::Add(sums, simd::hn::WidenMulPairwiseAdd(kInts, weights, input));
  }
};

// The same for weights of 8 bits, which are widened in registers: the first tile of a panel costs little more than the others.
struct DotWidened : DotI16 {
  static constexpr int64_t kWeightBytes = 2 * kVectorCols;
  static constexpr int64_t kWidenedBytes = DotI16::kWeightBytes;

  static Weights LoadWeights(const std::byte* p) {
#if defined(__wasm__)  // one instruction; Highway loads and then widens
    return Weights{wasm_i16x8_load8x8(p)};
#else
    const simd::hn::Rebind<int8_t, Shorts> bytes;
    return simd::hn::PromoteTo(kShorts, simd::hn::LoadU(bytes, reinterpret_cast<const int8_t*>(p)));
#endif
  }
  static void StoreWidened(Weights weights, std::byte* p) {
    simd::hn::StoreU(weights, kShorts, reinterpret_cast<int16_t*>(p));
  }
};

#if defined(__wasm_relaxed_simd__)

// Multiplies groups of four bytes by wasm's relaxed dot product. Engines differ: inputs are signed or unsigned, and x86 without VNNI
// saturates sums, so a probe in int8_gemm.cc decides whether it is exact.
struct DotRelaxed : VectorSums {
  using Weights = v128_t;
  using Input = v128_t;
  static constexpr int64_t kStep = 4;
  static constexpr int64_t kWeightBytes = 16;

  static Weights LoadWeights(const std::byte* p) { return wasm_v128_load(p); }
  static Input LoadInput(const std::byte* p) { return wasm_v128_load32_splat(p); }
  static Vector Accumulate(Vector sums, Weights weights, Input input) {
    return Vector{wasm_i32x4_relaxed_dot_i8x16_i7x16_add(weights, input, sums.raw)};
  }
};

#endif

}  // namespace peruse::cpu
