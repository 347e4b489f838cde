#include "core/cpu/int8_gemm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/cpu/block.h"
#include "core/cpu/int8_dots.h"
#include "core/cpu/int8_kernel.h"
#include "core/formats/quantize.h"

namespace peruse::cpu {

// Constants that are read from memory once per row, because V8 rebuilds compile-time constants at each use. The object must be neither
// const nor local to this file.
struct QuantizeConstants {
  float shift = 12582912.0f;  // 1.5 * 2^23: after adding it, the last bit of a float has the value 1
};
QuantizeConstants quantize_constants;

namespace {

using namespace simd;

constexpr int64_t kTileCols = 2 * VectorSums::kVectorCols;

constexpr int64_t Step(Int8Path path) { return path == Int8Path::kI16 ? 2 : 4; }

// Copies each kernel step (kStep bytes) of a row of weights to its position in a panel.
template <int64_t kStep>
void SpreadSteps(const int8_t* row, int64_t k, int8_t* out) {
  int64_t i = 0;
#pragma clang loop vectorize(disable)
  for (; i + kStep <= k; i += kStep, out += kTileCols * kStep) std::memcpy(out, row + i, kStep);
  if (i < k) std::memcpy(out, row + i, static_cast<size_t>(k - i));
}

#if defined(__wasm_relaxed_simd__)

// Whether the relaxed dot product is exact for weights and inputs in [-127, 127]. Inputs are signed bytes, or unsigned bytes shifted by
// 128. Tests every combination of extremes in a group of four, which would show saturation.
bool RelaxedDotIsExact(bool unsigned_input) {
  constexpr int kValues[] = {-127, 127, 1};
  for (int pattern = 0; pattern < 81 * 81; ++pattern) {
    volatile uint8_t weights[4], inputs[4];  // volatile prevents evaluation at compile time
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

#endif

// ExtremesOf of quantize.h, with vectors.
Extremes ExtremesOfRow(const float* values, int64_t count) {
  const VectorSums::Tag ints;
  const hn::RebindToUnsigned<VectorSums::Tag> bits;
  auto highest = hn::Zero(ints);
  auto lowest = hn::Zero(bits);
  const auto take = [&](Floats v) {
    highest = hn::Max(highest, hn::BitCast(ints, v));
    lowest = hn::Max(lowest, hn::BitCast(bits, v));
  };
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) take(Load(values + i));
  if (i < count) take(LoadFirst(values + i, count - i));
  const uint32_t least = hn::ReduceMax(bits, lowest);
  return {least >> 31 == 0 ? 0 : std::bit_cast<float>(least), std::bit_cast<float>(hn::ReduceMax(ints, highest))};
}

// A step of a row is a 16-byte vector of integers. Four steps are computed together, then interleaved.
constexpr hn::FixedTag<float, 4> kFour;
constexpr hn::FixedTag<int32_t, 4> kFourInts;
constexpr hn::FixedTag<int16_t, 8> kEightShorts;
constexpr hn::FixedTag<int8_t, 16> kSixteenBytes;
using Steps = hn::Vec<decltype(kFourInts)>;
using Shorts = hn::Vec<decltype(kEightShorts)>;
constexpr int64_t kStepsAtOnce = 4;

struct FourRows {
  const float* values[kInt8TileRows];
  float inverses[kInt8TileRows];
  int32_t offsets[kInt8TileRows];  // taken from each integer
  hn::Vec<decltype(kFour)> shift = hn::Set(kFour, quantize_constants.shift);

  // Rounds value * inverse to the nearest integer, ties to even, and subtracts. Must not fuse product and rounding.
  Steps Round(const float* four, hn::Vec<decltype(kFour)> inverse, Steps subtracted) const {
    const auto shifted = hn::Add(hn::Mul(hn::LoadU(kFour, four), inverse), shift);
    return hn::Sub(hn::BitCast(kFourInts, shifted), subtracted);
  }

  // Returns eight quantised values of a row; zero for a row without an inverse.
  Shorts Eight(int64_t row, int64_t at) const {
    const auto inverse = hn::Set(kFour, inverses[row]);
    const Steps subtracted = hn::Add(hn::BitCast(kFourInts, shift), hn::Set(kFourInts, offsets[row]));
    const Shorts rounded = hn::OrderedDemote2To(kEightShorts, Round(values[row] + at, inverse, subtracted),
                                                Round(values[row] + at + 4, inverse, subtracted));
    return hn::And(rounded, hn::Set(kEightShorts, inverses[row] == 0 ? 0 : -1));
  }
};

// Which bytes to take from 16 integers: the whole of 8-bit ones, or the high or low parts of 13-bit ones.
enum class Part : uint8_t { kWhole, kHigh, kLow };
Steps Bytes(Shorts first, Shorts second, Part part, int8_t offset) {
  if (part != Part::kWhole) {
    const auto half = hn::Set(kEightShorts, 64);
    const Shorts high[2] = {hn::ShiftRight<7>(hn::Add(first, half)), hn::ShiftRight<7>(hn::Add(second, half))};
    first = part == Part::kHigh ? high[0] : hn::Sub(first, hn::ShiftLeft<7>(high[0]));
    second = part == Part::kHigh ? high[1] : hn::Sub(second, hn::ShiftLeft<7>(high[1]));
  }
  const auto bytes = hn::OrderedDemote2To(kSixteenBytes, first, second);
  return hn::BitCast(kFourInts, hn::Add(bytes, hn::Set(kSixteenBytes, offset)));
}

void StoreSteps(const Steps (&rows)[kInt8TileRows], std::byte* out) {
  const auto store = [out](Steps v, int64_t step) {
    hn::StoreU(v, kFourInts, reinterpret_cast<int32_t*>(out + step * kInt8StepBytes));
  };
  const Steps even_lower = hn::InterleaveLower(kFourInts, rows[0], rows[2]);
  const Steps odd_lower = hn::InterleaveLower(kFourInts, rows[1], rows[3]);
  const Steps even_upper = hn::InterleaveUpper(kFourInts, rows[0], rows[2]);
  const Steps odd_upper = hn::InterleaveUpper(kFourInts, rows[1], rows[3]);
  store(hn::InterleaveLower(kFourInts, even_lower, odd_lower), 0);
  store(hn::InterleaveUpper(kFourInts, even_lower, odd_lower), 1);
  store(hn::InterleaveLower(kFourInts, even_upper, odd_upper), 2);
  store(hn::InterleaveUpper(kFourInts, even_upper, odd_upper), 3);
}

void QuantizePairs(const FourRows& rows, int64_t at, std::byte* out) {
  Steps steps[kInt8TileRows];
  for (int64_t r = 0; r < kInt8TileRows; ++r) steps[r] = hn::BitCast(kFourInts, rows.Eight(r, at));
  StoreSteps(steps, out);
}

void QuantizeFours(const FourRows& rows, int64_t at, Part part, int8_t offset, std::byte* out) {
  Steps steps[kInt8TileRows];
  for (int64_t r = 0; r < kInt8TileRows; ++r) steps[r] = Bytes(rows.Eight(r, at), rows.Eight(r, at + 8), part, offset);
  StoreSteps(steps, out);
}

// Quantises four rows step by step. A zero-padded buffer holds the values after the last group of four steps.
template <typename Quantize>
void QuantizeRows(const FourRows& rows, int64_t k, int64_t step, std::byte* out, Quantize quantize) {
  const int64_t piece = kStepsAtOnce * step;
  int64_t at = 0;
  for (; at + piece <= k; at += piece, out += kStepsAtOnce * kInt8StepBytes) quantize(rows, at, out);
  if (at == k) return;
  float padded[kInt8TileRows][16] = {};
  FourRows last = rows;
  for (int64_t r = 0; r < kInt8TileRows; ++r) {
    std::copy(rows.values[r] + at, rows.values[r] + k, padded[r]);
    last.values[r] = padded[r];
  }
  std::byte steps[kStepsAtOnce * kInt8StepBytes];
  quantize(last, 0, steps);
  std::memcpy(out, steps, static_cast<size_t>((k - at + step - 1) / step * kInt8StepBytes));
}

}  // namespace

bool Int8PathIsExact(Int8Path path) {
#if defined(__wasm_relaxed_simd__)
  if (path != Int8Path::kI16) return RelaxedDotIsExact(/*unsigned_input=*/path == Int8Path::kUsdot);
#endif
  return path == Int8Path::kI16;
}

Int8Path ChosenInt8Path() {
  static const Int8Path path = Int8PathIsExact(Int8Path::kSdot)    ? Int8Path::kSdot
                               : Int8PathIsExact(Int8Path::kUsdot) ? Int8Path::kUsdot
                                                                   : Int8Path::kI16;
  return path;
}

int64_t Int8TileCols() { return kTileCols; }
int64_t Int8Depth(Int8Path path, int64_t k) { return RoundUp(k, Step(path)); }

void PackInt8Columns(Int8Path path, const int8_t* rows, int64_t k, int64_t first, int64_t count, int8_t* packed) {
  for (int64_t c = 0; c < count; ++c, rows += k) {
    const int64_t lane = (first + c) % kTileCols;
    int8_t* out = packed + Int8PanelOffset(path, k, first + c - lane) + lane * Step(path);
    if (Step(path) == 4)
      SpreadSteps<4>(rows, k, out);
    else
      SpreadSteps<2>(rows, k, out);
  }
}

int64_t QuantizedTileBytes(Int8Path path, int64_t k, bool wide) {
  const bool split = wide && path != Int8Path::kI16;
  return Int8Depth(path, k) / Step(path) * kInt8StepBytes * (split ? 2 : 1);
}

void QuantizeTile(Int8Path path, const float* values, int64_t stride, int64_t rows, int64_t k, bool wide, void* tile,
                  float* scales, int32_t* offsets) {
  const bool bytes = path != Int8Path::kI16;
  const int32_t shift = path == Int8Path::kUsdot ? 128 : 0;  // of signed bytes
  FourRows four;
  for (int64_t r = 0; r < kInt8TileRows; ++r) {  // repeats the last row in place of absent ones
    const int64_t row = std::min(r, rows - 1);
    four.values[r] = values + row * stride;
    if (r < rows) {
      const Extremes extremes = ExtremesOfRow(four.values[r], k);
      const RowScale scale = InputScaleOf(extremes, InputLevels(k, wide), wide);
      // The least integer of the row becomes the least signed byte.
      const float least = scale.inverse == 0 ? 0 : std::nearbyint(extremes.lowest * scale.inverse);
      four.inverses[r] = scale.inverse;
      four.offsets[r] = bytes && !wide ? static_cast<int32_t>(least) + 128 : 0;
      scales[r] = scale.scale;
      offsets[r] = four.offsets[r] - shift;
    } else {
      four.inverses[r] = four.inverses[row];
      four.offsets[r] = four.offsets[row];
    }
  }
  auto* out = static_cast<std::byte*>(tile);
  if (!bytes) return QuantizeRows(four, k, Step(path), out, QuantizePairs);
  const auto offset = static_cast<int8_t>(-shift);  // -128 and 128 have the same bits in a byte
  const auto quantize = [&](Part part, std::byte* to) {
    QuantizeRows(four, k, Step(path), to, [=](const FourRows& from, int64_t at, std::byte* piece) {
      QuantizeFours(from, at, part, offset, piece);
    });
  };
  quantize(wide ? Part::kHigh : Part::kWhole, out);
  if (wide) quantize(Part::kLow, out + Int8Depth(path, k) / Step(path) * kInt8StepBytes);
}

int64_t Int8PanelScratch(Int8Path path, int64_t k) {
  return path == Int8Path::kI16 ? Int8Depth(path, k) * kTileCols * int64_t{sizeof(int16_t)} : 0;
}

void SumInt8Columns(Int8Path path, const void* panel, int64_t k, int32_t* sums) {
#if defined(__wasm_relaxed_simd__)
  if (path == Int8Path::kI16) return;
  const auto ones = hn::Set(kSixteenBytes, 1).raw;
  auto left = VectorSums::Zero(), right = VectorSums::Zero();
  const auto* step = static_cast<const std::byte*>(panel);
  for (int64_t i = 0; i < k; i += 4, step += kTileCols * 4) {
    left = DotRelaxed::Accumulate(left, DotRelaxed::LoadWeights(step), ones);
    right = DotRelaxed::Accumulate(right, DotRelaxed::LoadWeights(step + DotRelaxed::kWeightBytes), ones);
  }
  hn::StoreU(left, VectorSums::kInts, sums);
  hn::StoreU(right, VectorSums::kInts, sums + VectorSums::kVectorCols);
#else
  (void)path, (void)panel, (void)k, (void)sums;
#endif
}

void MultiplyInt8Tile(Int8Path path, const void* tile, const int32_t* offsets, int64_t k, bool wide,
                      const Int8Panel& panel, const Int8Output& output) {
  const auto* inputs = static_cast<const std::byte*>(tile);
  const auto* weights = static_cast<const std::byte*>(panel.weights);
  const int64_t steps = Int8Depth(path, k) / Step(path);
  if (path == Int8Path::kI16) {
    if (panel.widened == nullptr) return Int8Tile<DotI16>(inputs, steps, 1, weights, nullptr, panel.sums, output);
    auto* const widened = static_cast<std::byte*>(panel.widened);
    return Int8Tile<DotWidened>(inputs, steps, 1, weights, nullptr, panel.sums, output, widened);
  }
#if defined(__wasm_relaxed_simd__)
  Int8Tile<DotRelaxed>(inputs, steps, wide ? 2 : 1, weights, offsets, panel.sums, output);
#endif
}

}  // namespace peruse::cpu
