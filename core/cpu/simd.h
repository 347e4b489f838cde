// Portable SIMD: Highway, compiled for the build's instruction set, and vector functions for rows. Scalar functions of libm would be too
// slow, because these run once per activation.
#pragma once

#include <cstdint>

#include "hwy/highway.h"

#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
#endif

namespace peruse::simd {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
inline constexpr FloatTag kTag;
inline constexpr int64_t kLanes = hn::MaxLanes(kTag);

inline Floats Set(float value) { return hn::Set(kTag, value); }
inline Floats Load(const float* p) { return hn::LoadU(kTag, p); }
inline void Store(Floats v, float* p) { hn::StoreU(v, kTag, p); }
inline Floats LoadFirst(const float* p, int64_t count) { return hn::LoadN(kTag, p, static_cast<size_t>(count)); }
inline void StoreFirst(Floats v, float* p, int64_t count) { hn::StoreN(v, kTag, p, static_cast<size_t>(count)); }

// a * b + c. Highway's wasm target does not use relaxed multiply-add.
inline Floats Madd(Floats a, Floats b, Floats c) {
#if defined(__wasm_relaxed_simd__)
  return Floats{wasm_f32x4_relaxed_madd(a.raw, b.raw, c.raw)};
#else
  return hn::MulAdd(a, b, c);
#endif
}

// Converts halves to floats exactly, in fewer instructions than Highway's wasm target: after the shift the value is 2^112 too small, and
// one multiplication also corrects subnormals.
inline Floats LoadHalves(const uint16_t* p) {
#if defined(__wasm__)
  const hn::Rebind<uint16_t, FloatTag> half_bits;
  const hn::RebindToUnsigned<FloatTag> bits;
  const auto half = hn::PromoteTo(bits, hn::LoadU(half_bits, p));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(half, hn::Set(bits, 0x7FFF)));
  const auto sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(bits, 0x8000)));
  const Floats value = hn::Mul(hn::BitCast(kTag, magnitude), Set(5192296858534827628530496329220096.0f));
  // Corrects infinity and NaN, which have become 2^16 and above.
  const Floats exponent =
      hn::IfThenElseZero(hn::Ge(value, Set(65536.0f)), hn::BitCast(kTag, hn::Set(bits, 0x7F800000)));
  return hn::Or(hn::Or(value, exponent), hn::BitCast(kTag, sign));
#else
  const hn::Rebind<hwy::float16_t, FloatTag> half_tag;
  return hn::PromoteTo(kTag, hn::LoadU(half_tag, reinterpret_cast<const hwy::float16_t*>(p)));
#endif
}

// AtLeast and AtMost return NaN if x is NaN: x86 then returns the second operand.
inline Floats AtLeast(float bound, Floats x) { return hn::Max(Set(bound), x); }
inline Floats AtMost(float bound, Floats x) { return hn::Min(Set(bound), x); }

// Vector constants that are read from memory where used. V8 rebuilds compile-time constants with three instructions at each use. Objects
// must be neither const nor local to a file, or the compiler would know their values.
template <int kCount>
struct ConstantVectors {
  constexpr explicit ConstantVectors(const float (&values)[kCount]) : vectors() {
    for (int i = 0; i < kCount; ++i) {
      for (float& lane : vectors[i]) lane = values[i];
    }
  }
  Floats operator[](int i) const { return hn::LoadDup128(kTag, vectors[i]); }

  alignas(16) float vectors[kCount][4];
};

// 1.5 * 2^23 rounds a sum to an integer; 127 is the exponent's bias.
inline constexpr float kExponentShift = 12583039.0f;

inline ConstantVectors<12> exp_constants(
    {88.0f, -87.3f, 1.44269504f, kExponentShift,  // limits of x, then log2(e)
     -0.693145752f, -1.42860677e-6f,              // -ln 2 in two parts: n times the first is exact
     // Coefficients of e^r for |r| <= ln(2) / 2, for the powers 0 (and 1) to 6: minimax, relative error 2e-9.
     1.0f, 0.49999991059303284f, 0.16666410863399506f, 0.04166828840970993f, 0.00837564468383789f,
     0.0013835792196914554f});

// e^x with an error of about 1 ulp. Clamps x to [-87.3, 88] and preserves NaN (x86 then returns the second operand of Min and Max).
HWY_INLINE Floats Exp(Floats x) {
  const ConstantVectors<12>& c = exp_constants;
  x = hn::Min(c[0], hn::Max(c[1], x));
  const Floats shifted = Madd(x, c[2], c[3]);  // n + 127 in the low bits
  const Floats n = hn::Sub(shifted, c[3]);
  const Floats r = Madd(n, c[5], Madd(n, c[4], x));
  Floats p = Madd(r, c[11], c[10]);
  p = Madd(p, r, c[9]);
  p = Madd(p, r, c[8]);
  p = Madd(p, r, c[7]);
  p = Madd(p, r, c[6]);
  p = Madd(p, r, c[6]);
  const hn::RebindToUnsigned<FloatTag> bits;
  return hn::Mul(p, hn::BitCast(kTag, hn::ShiftLeft<23>(hn::BitCast(bits, shifted))));  // times 2^n
}

template <typename Function>
inline void Map(const float* x, float* out, int64_t count, Function f) {  // `out` may be `x`
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) Store(f(Load(x + i)), out + i);
  if (i < count) StoreFirst(f(LoadFirst(x + i, count - i)), out + i, count - i);
}

// out[i] = x[i], for short rows: in wasm, memcpy would be a call out of the module.
inline void Copy(const float* x, int64_t count, float* out) {
  Map(x, out, count, [](Floats v) { return v; });
}

template <typename Function>
inline void Map2(const float* x, const float* y, float* out, int64_t count, Function f) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) Store(f(Load(x + i), Load(y + i)), out + i);
  if (i < count) StoreFirst(f(LoadFirst(x + i, count - i), LoadFirst(y + i, count - i)), out + i, count - i);
}

// out[i * out_stride + j] = rows[j * stride + i] for four rows of k values
[[gnu::noinline]] inline void TransposeFour(const float* rows, int64_t stride, int64_t k, float* out,
                                            int64_t out_stride) {
  const hn::FixedTag<float, 4> four;
  int64_t i = 0;
  for (; i + 4 <= k; i += 4, out += 4 * out_stride) {
    const auto a = hn::LoadU(four, rows + i);
    const auto b = hn::LoadU(four, rows + stride + i);
    const auto c = hn::LoadU(four, rows + 2 * stride + i);
    const auto d = hn::LoadU(four, rows + 3 * stride + i);
    const auto ab_lower = hn::InterleaveLower(four, a, b);
    const auto ab_upper = hn::InterleaveUpper(four, a, b);
    const auto cd_lower = hn::InterleaveLower(four, c, d);
    const auto cd_upper = hn::InterleaveUpper(four, c, d);
    hn::StoreU(hn::ConcatLowerLower(four, cd_lower, ab_lower), four, out);
    hn::StoreU(hn::ConcatUpperUpper(four, cd_lower, ab_lower), four, out + out_stride);
    hn::StoreU(hn::ConcatLowerLower(four, cd_upper, ab_upper), four, out + 2 * out_stride);
    hn::StoreU(hn::ConcatUpperUpper(four, cd_upper, ab_upper), four, out + 3 * out_stride);
  }
  for (; i < k; ++i, out += out_stride) {
    for (int64_t j = 0; j < 4; ++j) out[j] = rows[j * stride + i];
  }
}

// Replaces x by e^(scale (x - max)) and returns the sum. Precondition: scale >= 0. The order of summation only depends on `count`.
inline float ExpInPlace(float* x, int64_t count, float scale) {
  Floats largest = Set(-3.4028235e38f);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) largest = hn::Max(largest, Load(x + i));
  float max = hn::ReduceMax(kTag, largest);
  for (int64_t j = i; j < count; ++j) max = x[j] > max ? x[j] : max;
  const Floats vector_scale = Set(scale);
  const Floats offset = Set(-max * scale);
  const auto exp = [&](Floats v) { return Exp(Madd(v, vector_scale, offset)); };
  Floats sums = hn::Zero(kTag);
  i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Floats value = exp(Load(x + i));
    Store(value, x + i);
    sums = hn::Add(sums, value);
  }
  float sum = hn::ReduceSum(kTag, sums);
  if (i < count) {
    StoreFirst(exp(LoadFirst(x + i, count - i)), x + i, count - i);
    for (; i < count; ++i) sum += x[i];
  }
  return sum;
}

}  // namespace peruse::simd
