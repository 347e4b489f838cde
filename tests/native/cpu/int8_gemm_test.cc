// Compares every int8 path with the plain integer sum. Paths that this machine lacks run with the definition of the instruction.
#include "core/cpu/int8_gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
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
  static Vector AddTimes(Vector sums, Vector v, int32_t factor) {
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += v[i] * static_cast<uint32_t>(factor);
    return sums;
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
  // [rows, k], integers of a scale of 1: the ends of a row are 2 * levels apart, and symmetric if wide.
  std::vector<float> inputs;
  std::vector<int8_t> weights;  // [Int8TileCols(), k]
};

enum class Fill { kRandom, kExtremes, kAllLargest, kOpposed };

Problem MakeProblem(int64_t rows, int64_t k, bool wide, Fill fill) {
  std::mt19937 random(static_cast<uint32_t>(rows * 1000 + k));
  Problem p{rows, k, wide, {}, {}};
  const int32_t levels = InputLevels(k, wide);
  const auto between = [&](int32_t least, int32_t largest) {
    if (fill == Fill::kExtremes) return random() % 2 == 1 ? largest : least;
    return static_cast<int32_t>(random() % static_cast<uint32_t>(largest - least + 1)) + least;
  };
  const bool of_one_sign = fill == Fill::kAllLargest || fill == Fill::kOpposed;
  for (int64_t r = 0; r < rows; ++r) {
    int32_t least = static_cast<int32_t>(r % 3) * -levels;  // not negative, symmetric, or not positive
    if (fill == Fill::kRandom && k > 1) least = between(-2 * levels, 0);
    if (k == 1 && least == -levels) least = 0;
    if (of_one_sign) least = fill == Fill::kOpposed ? -2 * levels : 0;
    const bool negative = least < -levels;
    if (p.wide) least = -levels;
    const int32_t far = p.wide ? (negative ? -levels : levels) : least == 0 ? 2 * levels : least;  // from zero
    for (int64_t i = 0; i < k; ++i) {
      const int32_t inside = of_one_sign ? far : between(least, least + 2 * levels);
      p.inputs.push_back(static_cast<float>(i == 0 ? far : i == 1 && !p.wide ? 2 * least + 2 * levels - far : inside));
    }
  }
  for (int64_t i = 0; i < Int8TileCols() * k; ++i) {
    p.weights.push_back(static_cast<int8_t>(of_one_sign ? 127 : between(-127, 127)));
  }
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
  std::array<int32_t, kInt8TileRows> row_offsets = {};
  QuantizeTile(path, p.inputs.data(), p.k, p.rows, p.k, p.wide, tile.data(), scales.data(), row_offsets.data());
  for (int64_t r = 0; r < p.rows; ++r) EXPECT_EQ(scales[static_cast<size_t>(r)], 1.0f);
  std::vector<std::byte> scratch(static_cast<size_t>(Int8PanelScratch(path, p.k)) + 64);
  std::vector<int32_t> sums(static_cast<size_t>(kInt8TileRows * cols));
  const Sums output = {sums.data(), p.rows};
  const auto* weights = reinterpret_cast<const std::byte*>(packed.data());
  const int64_t steps = Int8Depth(path, p.k) / (path == Int8Path::kI16 ? 2 : 4);
  const int32_t* const offsets = path == Int8Path::kI16 ? nullptr : row_offsets.data();
  const int passes = path != Int8Path::kI16 && p.wide ? 2 : 1;
  if (path == Int8Path::kI16) {
    Int8Tile<DotWidened>(tile.data(), steps, passes, weights, offsets, weight_sums.data(), output, scratch.data());
    const std::vector<int32_t> first = sums;
    std::fill(sums.begin(), sums.end(), 0);
    Int8Tile<DotI16>(tile.data(), steps, passes, scratch.data(), offsets, weight_sums.data(), output);
    EXPECT_EQ(sums, first) << "from bytes, and from the 16-bit integers that this product stored";
#if defined(__wasm_relaxed_simd__)
  } else if (path == ChosenInt8Path()) {
    Int8Tile<DotRelaxed>(tile.data(), steps, passes, weights, offsets, weight_sums.data(), output);
#endif
  } else if (path == Int8Path::kSdot) {
    Int8Tile<DefinedDot<int8_t>>(tile.data(), steps, passes, weights, offsets, weight_sums.data(), output);
  } else {
    Int8Tile<DefinedDot<uint8_t>>(tile.data(), steps, passes, weights, offsets, weight_sums.data(), output);
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
      EXPECT_LE((wide ? 1 : 2) * levels * 127 * k, std::numeric_limits<int32_t>::max());
      EXPECT_TRUE(levels >= 127 || (levels == 0 && k > 66572)) << k;
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
        if (round == 5) values[0] = -std::numeric_limits<float>::quiet_NaN();
        if (round > 5 && round < 25) {
          for (float& value : values) value = std::copysign(value, round < 15 ? 1.0f : -1.0f);
        }
        if (round > 40) {
          for (float& value : values) value = static_cast<float>(static_cast<int32_t>(random() % 253) - 126) / 2;
          values[0] = 127;
          if (k > 1) values[1] = -127;
        }
        std::vector<int16_t> expected(values.size());
        const float scale = QuantizeInputs(values, InputLevels(k, wide), wide, expected.data());
        const int64_t rows = 1 + round % kInt8TileRows;
        const int64_t lane = rows - 1;
        std::vector<float> block(static_cast<size_t>(lane * k), 0.0f);
        block.insert(block.end(), values.begin(), values.end());
        std::vector<int16_t> tile(static_cast<size_t>(QuantizedTileBytes(Int8Path::kI16, k, wide)));
        std::array<float, kInt8TileRows> scales = {};
        std::array<int32_t, kInt8TileRows> offsets = {};
        QuantizeTile(Int8Path::kI16, block.data(), k, rows, k, wide, tile.data(), scales.data(), offsets.data());
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
