// Compares every int8 path with the plain integer sum. Paths that this machine lacks run with the definition of the instruction.
#include "core/cpu/int8_gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/cpu/int8_dots.h"
#include "core/cpu/int8_kernel.h"
#include "core/formats/quantize.h"

namespace peruse::cpu {
namespace {

// A dot product of four bytes by definition: sdot reads inputs as signed, usdot as unsigned.
template <typename InputByte>
struct DefinedDot {
  static constexpr int64_t kStep = 4;
  static constexpr int64_t kVectorCols = VectorSums::kVectorCols;
  static constexpr int64_t kWeightBytes = 4 * kVectorCols;
  using Vector = std::array<uint32_t, kVectorCols>;  // modulo 2^32
  using Weights = std::array<int8_t, 4 * kVectorCols>;
  using Input = std::array<InputByte, 4>;

  template <typename T>
  static T Load(const void* p) {
    T value;
    std::memcpy(&value, p, sizeof(value));
    return value;
  }
  static Vector Zero() { return {}; }
  static Vector LoadSums(const int32_t* p) { return Load<Vector>(p); }
  static Vector Add(Vector a, Vector b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  static Vector ShiftLeft7(Vector v) {
    for (uint32_t& value : v) value <<= 7;
    return v;
  }
  static Weights LoadWeights(const std::byte* p) { return Load<Weights>(p); }
  static Input LoadInput(const std::byte* p) { return Load<Input>(p); }
  static Vector Accumulate(Vector sums, const Weights& weights, Input input) {
    for (size_t i = 0; i < weights.size(); ++i)
      sums[i / 4] += static_cast<uint32_t>(int{weights[i]} * int{input[i % 4]});
    return sums;
  }
};

struct Sums {
  int32_t* sums;  // [kInt8TileRows, Int8TileCols()]
  int64_t rows;

  template <typename Dot, int kRows>
  void Take(const typename Dot::Vector (&tile)[kRows][2]) const {
    for (int r = 0; r < kRows; ++r) {
      for (int half = 0; half < 2; ++half) {
        std::memcpy(sums + (2 * r + half) * Dot::kVectorCols, &tile[r][half], sizeof(int32_t) * Dot::kVectorCols);
      }
    }
  }
};

struct Problem {
  int64_t rows;
  int64_t k;
  bool wide;
  std::vector<float> inputs;    // [rows, k], integers within the levels, each row with its largest
  std::vector<int8_t> weights;  // [Int8TileCols(), k]
};

enum class Fill { kRandom, kExtremes, kAllLargest, kOpposed };

Problem MakeProblem(int64_t rows, int64_t k, bool wide, Fill fill) {
  std::mt19937 random(static_cast<uint32_t>(rows * 1000 + k));
  Problem p{rows, k, wide, {}, {}};
  const int32_t levels = InputLevels(k, wide);
  const auto value = [&](int32_t largest, bool input) {
    const bool odd = random() % 2 == 1;
    if (fill == Fill::kAllLargest) return largest;
    if (fill == Fill::kOpposed) return input ? -largest : largest;
    if (fill == Fill::kExtremes) return odd ? largest : -largest;
    return static_cast<int32_t>(random() % static_cast<uint32_t>(2 * largest + 1)) - largest;
  };
  for (int64_t i = 0; i < rows * k; ++i) {
    p.inputs.push_back(static_cast<float>(i % k == 0 ? -levels : value(levels, true)));
  }
  for (int64_t i = 0; i < Int8TileCols() * k; ++i) p.weights.push_back(static_cast<int8_t>(value(127, false)));
  return p;
}

std::vector<int64_t> Expected(const Problem& p) {
  std::vector<int64_t> sums;
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t c = 0; c < Int8TileCols(); ++c) {
      int64_t sum = 0;
      for (int64_t i = 0; i < p.k; ++i) {
        sum += static_cast<int64_t>(p.inputs[static_cast<size_t>(r * p.k + i)]) *
               p.weights[static_cast<size_t>(c * p.k + i)];
      }
      sums.push_back(sum);
    }
  }
  return sums;
}

std::vector<int64_t> Computed(const Problem& p, Int8Path path) {
  const int64_t cols = Int8TileCols();
  std::vector<int8_t> packed(static_cast<size_t>(Int8Depth(path, p.k) * cols) + 64);
  for (int64_t c = 0; c < cols; ++c) PackInt8Columns(path, p.weights.data() + c * p.k, p.k, c, 1, packed.data());
  std::vector<int32_t> weight_sums;
  for (int64_t c = 0; c < cols; ++c) {
    int32_t sum = 0;
    for (int64_t i = 0; i < p.k; ++i) sum += p.weights[static_cast<size_t>(c * p.k + i)];
    weight_sums.push_back(sum);
  }
  std::vector<std::byte> tile(static_cast<size_t>(QuantizedTileBytes(path, p.k, p.wide)) + 64);
  std::array<float, kInt8TileRows> scales;
  QuantizeTile(path, p.inputs.data(), p.k, p.rows, p.k, p.wide, tile.data(), scales.data());
  for (int64_t r = 0; r < p.rows; ++r) EXPECT_EQ(scales[static_cast<size_t>(r)], 1.0f);
  std::vector<std::byte> scratch(static_cast<size_t>(Int8PanelScratch(path, p.k)) + 64);
  const void* panel = PrepareInt8Panel(path, packed.data(), p.k, scratch.data());
  std::vector<int32_t> sums(static_cast<size_t>(kInt8TileRows * cols));
  const Sums output = {sums.data(), p.rows};
  const auto* weights = static_cast<const std::byte*>(panel);
  const int64_t steps = Int8Depth(path, p.k) / (path == Int8Path::kI16 ? 2 : 4);
  std::vector<int32_t> correction;
  for (int32_t sum : weight_sums) correction.push_back(-128 * sum);
  const int32_t* const corrections = path == Int8Path::kUsdot ? correction.data() : nullptr;
  const int passes = path != Int8Path::kI16 && p.wide ? 2 : 1;
  if (path == Int8Path::kI16) {
    Int8Tile<DotI16>(tile.data(), steps, passes, weights, corrections, output);
#if defined(__wasm_relaxed_simd__)
  } else if (path == ChosenInt8Path()) {
    Int8Tile<DotRelaxed>(tile.data(), steps, passes, weights, corrections, output);
#endif
  } else if (path == Int8Path::kSdot) {
    Int8Tile<DefinedDot<int8_t>>(tile.data(), steps, passes, weights, corrections, output);
  } else {
    Int8Tile<DefinedDot<uint8_t>>(tile.data(), steps, passes, weights, corrections, output);
  }
  sums.resize(static_cast<size_t>(p.rows * cols));
  return {sums.begin(), sums.end()};
}

TEST(Int8GemmTest, EveryPathGivesTheExactSums) {
  for (const Int8Path path : {Int8Path::kI16, Int8Path::kSdot, Int8Path::kUsdot}) {
    for (const bool wide : {false, true}) {
      for (const Fill fill : {Fill::kRandom, Fill::kExtremes, Fill::kAllLargest, Fill::kOpposed}) {
        for (const int64_t k : {1, 2, 3, 4, 5, 31, 64, 255, 256, 257, 768, 3072, 4096, 4129, 6144, 20000}) {
          const Problem p = MakeProblem(1 + k % 4, k, wide, fill);
          ASSERT_EQ(Computed(p, path), Expected(p)) << "path " << static_cast<int>(path) << (wide ? " wide" : "")
                                                    << " fill " << static_cast<int>(fill) << " k " << k;
        }
      }
    }
  }
}

TEST(Int8GemmTest, LevelsNeverOverflow) {
  for (int64_t k = 1; k < 140000; k += 1 + k / 50) {
    for (const bool wide : {false, true}) {
      const int64_t levels = InputLevels(k, wide);
      EXPECT_LE(levels * 127 * k, std::numeric_limits<int32_t>::max());
      EXPECT_TRUE(levels >= 127 || (levels == 0 && k > 133144)) << k;
    }
  }
  EXPECT_EQ(InputLevels(3072, true), 4095);
  EXPECT_EQ(InputLevels(3072, false), 127);
}

TEST(Int8GemmTest, RowsQuantiseByTheRule) {
  std::mt19937 random(7);
  for (const bool wide : {false, true}) {
    for (const int64_t k : {1, 3, 8, 17, 700}) {
      for (int round = 0; round < 50; ++round) {
        std::vector<float> values;
        const float size = std::bit_cast<float>(static_cast<uint32_t>(random() % 250 + 2) << 23);
        for (int64_t i = 0; i < k; ++i)
          values.push_back(static_cast<float>(static_cast<int32_t>(random())) * 0x1p-31f * size);
        if (round == 1) std::fill(values.begin(), values.end(), 0.0f);
        if (round == 2) values[0] = std::numeric_limits<float>::quiet_NaN();
        if (round == 3) values[0] = -std::numeric_limits<float>::infinity();
        if (round == 4) std::fill(values.begin(), values.end(), 1e-40f);
        if (round > 40) {
          for (float& value : values) value = static_cast<float>(static_cast<int32_t>(random() % 253) - 126) / 2;
          values[0] = 127;
        }
        std::vector<int16_t> expected(values.size());
        const float scale = QuantizeRow(std::span<const float>(values), InputLevels(k, wide), expected.data());
        const int64_t rows = 1 + round % kInt8TileRows;
        const int64_t lane = rows - 1;
        std::vector<float> block(static_cast<size_t>(lane * k), 0.0f);
        block.insert(block.end(), values.begin(), values.end());
        std::vector<int16_t> tile(static_cast<size_t>(QuantizedTileBytes(Int8Path::kI16, k, wide)));
        std::array<float, kInt8TileRows> scales = {};
        QuantizeTile(Int8Path::kI16, block.data(), k, rows, k, wide, tile.data(), scales.data());
        const float got_scale = scales[static_cast<size_t>(lane)];
        EXPECT_EQ(std::bit_cast<uint32_t>(scale), std::bit_cast<uint32_t>(got_scale));
        std::vector<int16_t> got;
        for (int64_t i = 0; i < k; ++i) got.push_back(tile[static_cast<size_t>(i / 2 * 8 + lane * 2 + i % 2)]);
        ASSERT_EQ(got, expected) << k << " round " << round;
      }
    }
  }
}

TEST(Int8GemmTest, PackingInPiecesIsPackingAtOnce) {
  const int64_t k = 7;
  const int64_t n = 37;
  std::vector<int8_t> rows;
  for (int64_t i = 0; i < n * k; ++i) rows.push_back(static_cast<int8_t>(i));
  for (const Int8Path path : {Int8Path::kI16, Int8Path::kSdot}) {
    const size_t size = static_cast<size_t>(Int8PanelOffset(path, k, (n / Int8TileCols() + 1) * Int8TileCols()));
    std::vector<int8_t> whole(size), pieces(size);
    PackInt8Columns(path, rows.data(), k, 0, n, whole.data());
    for (int64_t first = 0; first < n; first += 3) {
      PackInt8Columns(path, rows.data() + first * k, k, first, std::min<int64_t>(3, n - first), pieces.data());
    }
    EXPECT_EQ(pieces, whole);
  }
}

}  // namespace
}  // namespace peruse::cpu
