#include "core/backend/xnnpack/int8_gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/backend/quantize.h"
#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/int8_dots.h"
#include "core/backend/xnnpack/int8_kernel.h"

namespace peruse::xnnpack {
namespace {

using namespace simd;  // NOLINT: this file is vector code throughout

constexpr int64_t kTileCols = 2 * VectorSums::kVectorCols;

constexpr int64_t Step(Int8Path path) { return path == Int8Path::kI16 ? 2 : 4; }

// ---- Choosing ---------------------------------------------------------------------------------------------------------

#if defined(__wasm_relaxed_simd__)

// Whether the relaxed dot product of weights and inputs, both between -127 and 127, is exact, the inputs as signed bytes
// or shifted by 128 as unsigned ones. Every pattern of extremes over a group of four, where saturation would show.
bool RelaxedDotIsExact(bool unsigned_input) {
  constexpr int kValues[] = {-127, 127, 1};
  for (int pattern = 0; pattern < 81 * 81; ++pattern) {
    volatile uint8_t weights[4], inputs[4];  // not to be computed by the compiler
    int32_t expected = 1 << 20;
    int rest = pattern;
    for (int i = 0; i < 4; ++i, rest /= 9) {
      const int weight = kValues[rest % 3];
      const int input = kValues[rest / 3 % 3] + (unsigned_input ? 128 : 0);
      weights[i] = static_cast<uint8_t>(weight);
      inputs[i] = static_cast<uint8_t>(input);
      expected += weight * input;
    }
    std::byte both[8];
    for (int i = 0; i < 4; ++i) {
      both[i] = std::byte{weights[i]};
      both[4 + i] = std::byte{inputs[i]};
    }
    const auto sums = DotRelaxed::Accumulate(hn::Set(VectorSums::kInts, 1 << 20), wasm_v128_load32_splat(both),
                                             DotRelaxed::LoadInput(both + 4));
    if (hn::GetLane(sums) != expected || hn::ExtractLane(sums, 3) != expected) return false;
  }
  return true;
}

Int8Path ChoosePath() {
  if (RelaxedDotIsExact(/*unsigned_input=*/false)) return Int8Path::kSdot;
  if (RelaxedDotIsExact(/*unsigned_input=*/true)) return Int8Path::kUsdot;
  return Int8Path::kI16;
}

#else

Int8Path ChoosePath() { return Int8Path::kI16; }

#endif

// ---- Activations ------------------------------------------------------------------------------------------------------

uint32_t LargestBits(const float* values, int64_t count) {
  const VectorSums::Tag ints;
  const auto mask = hn::Set(ints, 0x7FFFFFFF);
  auto largest = hn::Zero(ints);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    largest = hn::Max(largest, hn::And(hn::BitCast(ints, Load(values + i)), mask));
  }
  if (i < count) largest = hn::Max(largest, hn::And(hn::BitCast(ints, LoadFirst(values + i, count - i)), mask));
  return static_cast<uint32_t>(hn::ReduceMax(ints, largest));
}

// value * inverse to the nearest integer, ties to even: added to 1.5 * 2^23 a float's last bit is 1. Never fused into
// one rounding.
VectorSums::Vector Round(Floats values, Floats inverse) {
  const Floats shifted = hn::Add(hn::Mul(values, inverse), Set(12582912.0f));
  return hn::Sub(hn::BitCast(VectorSums::kInts, shifted), hn::Set(VectorSums::kInts, 0x4B400000));
}

[[gnu::noinline]] void QuantizeToI16(const float* values, int64_t count, float inverse, int16_t* out) {
  const Floats factor = Set(inverse);
  int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    const auto low = Round(Load(values + i), factor);
    const auto high = Round(Load(values + i + kLanes), factor);
    hn::StoreU(hn::OrderedDemote2To(DotI16::kShorts, low, high), DotI16::kShorts, out + i);
  }
  for (; i < count; ++i) {
    const Floats value = LoadFirst(values + i, 1);
    out[i] = static_cast<int16_t>(hn::GetLane(Round(value, factor)));
  }
}

// A row's steps, of four bytes each, to where they lie among the other rows'.
[[gnu::noinline]] void Spread(const void* steps, int64_t count, std::byte* out) {
  const auto* from = static_cast<const std::byte*>(steps);
#pragma clang loop vectorize(disable)
  for (int64_t i = 0; i < count; ++i) std::memcpy(out + i * kInt8StepBytes, from + 4 * i, 4);
}

}  // namespace

Int8Path ChosenInt8Path() {
  static const Int8Path path = ChoosePath();
  return path;
}

int64_t Int8TileCols() { return kTileCols; }
int64_t Int8Depth(Int8Path path, int64_t k) { return RoundUp(k, Step(path)); }

void PackInt8Columns(Int8Path path, const int8_t* rows, int64_t k, int64_t first, int64_t count, int8_t* packed) {
  const int64_t step = Step(path);
  for (int64_t c = 0; c < count; ++c, rows += k) {
    const int64_t lane = (first + c) % kTileCols;
    int8_t* out = packed + Int8PanelOffset(path, k, first + c - lane) + lane * step;
    for (int64_t i = 0; i < k; i += step, out += kTileCols * step) {
      for (int64_t j = 0; j < std::min(step, k - i); ++j) out[j] = rows[i + j];
    }
  }
}

int64_t QuantizedTileBytes(Int8Path path, int64_t k, bool wide) {
  const bool split = wide && path != Int8Path::kI16;
  return Int8Depth(path, k) / Step(path) * kInt8StepBytes * (split ? 2 : 1);
}

float QuantizeActivations(Int8Path path, const float* values, int64_t k, bool wide, int64_t row, void* tile) {
  const RowScale scale = ScaleOf(LargestBits(values, k), InputLevels(k, wide));
  const bool bytes = path != Int8Path::kI16;
  const int offset = path == Int8Path::kUsdot ? 128 : 0;
  std::byte* out = static_cast<std::byte*>(tile) + 4 * row;
  std::byte* low_out = out + Int8Depth(path, k) / Step(path) * kInt8StepBytes;
  constexpr int64_t kPiece = 256;
  int16_t integers[kPiece];
  uint8_t high[kPiece], low[kPiece];
  for (int64_t first = 0; first < k; first += kPiece) {
    const int64_t count = std::min(k - first, kPiece);
    const int64_t padded = Int8Depth(path, count);
    std::fill(integers + count, integers + padded, int16_t{0});  // where a step is not full
    if (scale.inverse == 0) {
      std::fill_n(integers, count, int16_t{0});
    } else {
      QuantizeToI16(values + first, count, scale.inverse, integers);
    }
    if (!bytes) {
      Spread(integers, padded / 2, out);
    } else {
#pragma clang loop vectorize(disable)  // small rather than fast: the product is longer by far
      for (int64_t i = 0; i < padded; ++i) {
        const int upper = wide ? (integers[i] + 64) >> 7 : integers[i];
        high[i] = static_cast<uint8_t>(upper + offset);
        low[i] = static_cast<uint8_t>(integers[i] - 128 * upper + offset);
      }
      Spread(high, padded / 4, out);
      if (wide) Spread(low, padded / 4, low_out);
    }
    out += padded / Step(path) * kInt8StepBytes;
    low_out += padded / Step(path) * kInt8StepBytes;
  }
  return scale.scale;
}

int64_t Int8PanelScratch(Int8Path path, int64_t k) {
  return path == Int8Path::kI16 ? Int8Depth(path, k) * kTileCols * int64_t{sizeof(int16_t)} : 0;
}

const void* PrepareInt8Panel(Int8Path path, const int8_t* panel, int64_t k, void* scratch) {
  if (path != Int8Path::kI16) return panel;
  const hn::Rebind<int8_t, DotI16::Shorts> bytes;
  constexpr int64_t kShortLanes = hn::MaxLanes(DotI16::kShorts);
  int16_t* out = static_cast<int16_t*>(scratch);
  for (int64_t i = 0; i < Int8Depth(path, k) * kTileCols; i += kShortLanes) {
    hn::StoreU(hn::PromoteTo(DotI16::kShorts, hn::LoadU(bytes, panel + i)), DotI16::kShorts, out + i);
  }
  return scratch;
}

void MultiplyInt8Tile(Int8Path path, const void* tile, int64_t rows, int64_t k, bool wide, const void* panel,
                      const int32_t* weight_sums, int32_t* sums) {
  const auto* inputs = static_cast<const std::byte*>(tile);
  const auto* weights = static_cast<const std::byte*>(panel);
  const int64_t steps = Int8Depth(path, k) / Step(path);
  if (path == Int8Path::kI16) {
    return Int8Tile<DotI16>(inputs, rows, steps, /*passes=*/1, weights, /*correction=*/nullptr, sums);
  }
#if defined(__wasm_relaxed_simd__)
  int32_t correction[kTileCols];
  for (int64_t c = 0; c < kTileCols; ++c) correction[c] = -128 * weight_sums[c];
  Int8Tile<DotRelaxed>(inputs, rows, steps, wide ? 2 : 1, weights, path == Int8Path::kUsdot ? correction : nullptr,
                       sums);
#endif
}

}  // namespace peruse::xnnpack
