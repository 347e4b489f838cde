#include "core/train/memory/dropout.h"

#include <algorithm>
#include <array>

#include "core/cpu/simd.h"
#include "core/train/memory/random_stream.h"

#if defined(__wasm__)
#include <wasm_simd128.h>
#endif

namespace peruse::train {
namespace {

namespace hn = simd::hn;

constexpr hn::RebindToUnsigned<simd::FloatTag> kWordTag;
using Words = hn::Vec<decltype(kWordTag)>;
Words SetWords(uint32_t value) { return hn::Set(kWordTag, value); }

Words MulHigh(Words a, Words b) {
#if defined(__wasm__)
  // Engines compile these two instructions well, but split products of 64-bit vectors.
  const v128_t low = wasm_u64x2_extmul_low_u32x4(a.raw, b.raw), high = wasm_u64x2_extmul_high_u32x4(a.raw, b.raw);
  return Words{wasm_i32x4_shuffle(low, high, 1, 3, 5, 7)};
#else
  return hn::InterleaveOdd(kWordTag, hn::BitCast(kWordTag, hn::MulEven(a, b)), hn::BitCast(kWordTag, hn::MulOdd(a, b)));
#endif
}

// Computes Philox of the counters {first + lane, row, place, step}, one per vector lane.
void PhiloxBlock(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key, uint32_t* words) {
  Words a = hn::Iota(kWordTag, counter[0]), b = SetWords(counter[1]), c = SetWords(counter[2]),
        d = SetWords(counter[3]);
  const Words first_factor = SetWords(kPhiloxFactors[0]), second_factor = SetWords(kPhiloxFactors[1]);
  for (int round = 0; round < 10; ++round) {
    const Words first = hn::Mul(a, first_factor), second = hn::Mul(c, second_factor);
    const Words carried = MulHigh(a, first_factor);
    a = hn::Xor(hn::Xor(MulHigh(c, second_factor), b), SetWords(key[0]));
    c = hn::Xor(hn::Xor(carried, d), SetWords(key[1]));
    b = second;
    d = first;
    key[0] += kPhiloxKeySteps[0];
    key[1] += kPhiloxKeySteps[1];
  }
  hn::StoreInterleaved4(a, b, c, d, kWordTag, words);
}

}  // namespace

void Dropout::Apply(uint32_t place, uint32_t row_number, float* row, int64_t count) const {
  const std::array<uint32_t, 2> key = PhiloxKey(seed);
  const auto below = static_cast<uint32_t>(rate * 4294967296.0);  // elements with smaller words are dropped
  const float scale = 1 / (1 - rate);
  constexpr int64_t kBlock = 4 * simd::kLanes;
  uint32_t words[kBlock];
  for (int64_t first = 0; first < count; first += kBlock) {
    PhiloxBlock({static_cast<uint32_t>(first / 4) + (part << 20), row_number, place, step}, key, words);
    int64_t i = 0;
    for (; i < kBlock && first + i + simd::kLanes <= count; i += simd::kLanes) {
      const auto keep = hn::RebindMask(simd::kTag, hn::Ge(hn::LoadU(kWordTag, words + i), SetWords(below)));
      const simd::Floats scaled = hn::Mul(simd::Load(row + first + i), simd::Set(scale));
      simd::Store(hn::IfThenElseZero(keep, scaled), row + first + i);
    }
    for (; i < kBlock && first + i < count; ++i) row[first + i] = words[i] < below ? 0 : row[first + i] * scale;
  }
}

}  // namespace peruse::train
