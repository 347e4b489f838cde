#include "core/cpu/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/half.h"
#include "core/cpu/block.h"

namespace peruse::cpu {
namespace {

TEST(GemmTest, EveryHalfExpandsExactly) {
  const int64_t k = 65536 / TileCols();
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  const std::vector<float> biases(static_cast<size_t>(TileCols()), 3.5f);
  std::vector<float> packed(static_cast<size_t>(PackedFloats(k, TileCols())));
  ExpandHalfPanels(halves.data(), biases.data(), k, TileCols(), packed.data());
  for (size_t i = 0; i < biases.size(); ++i) EXPECT_EQ(packed[i], 3.5f);
  for (size_t i = 0; i < halves.size(); ++i) {
    const float got = packed[biases.size() + i];
    const float want = HalfToFloat(halves[i]);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(want)) << i;
    }
  }
}

TEST(GemmTest, PackingInPiecesIsPackingAtOnce) {
  const int64_t k = 7;
  const int64_t n = 37;
  std::vector<float> rows(static_cast<size_t>(k * n));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i) + 0.5f;
  std::vector<float> whole(static_cast<size_t>(PackedFloats(k, n)));
  PackColumns(rows.data(), k, k, 0, n, whole.data());
  for (int64_t piece : {1, 2, 3, 5, 11}) {
    std::vector<float> pieces(whole.size());
    for (int64_t first = 0; first < n; first += piece) {
      PackColumns(rows.data() + first * k, k, k, first, std::min(piece, n - first), pieces.data());
    }
    EXPECT_EQ(pieces, whole) << piece;
  }
  for (int64_t c = 0; c < n; ++c) {
    for (int64_t i = 0; i < k; ++i) {
      const int64_t lane = c % TileCols();
      const int64_t at = PanelOffset(k, c - lane) + (i + 1) * TileCols() + lane;
      ASSERT_EQ(whole[static_cast<size_t>(at)], rows[static_cast<size_t>(c * k + i)]);
    }
  }
}

TEST(GemmTest, HalvesLieWhereFloatsDo) {
  for (const int64_t k : {7, 300}) {
    const int64_t n = 37;
    std::vector<uint16_t> rows(static_cast<size_t>(k * n));
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint16_t>(i);
    for (int64_t piece : {1, 3, 8, 11, 37}) {
      std::vector<uint16_t> packed(static_cast<size_t>(PackedFloats(k, n) - RoundUp(n, TileCols())));
      for (int64_t first = 0; first < n; first += piece) {
        PackHalfColumns(rows.data() + first * k, k, k, first, std::min(piece, n - first), packed.data());
      }
      for (int64_t c = 0; c < n; ++c) {
        for (int64_t i = 0; i < k; ++i) {
          const int64_t lane = c % TileCols();
          const uint16_t want = rows[static_cast<size_t>(c * k + i)];
          ASSERT_EQ(packed[static_cast<size_t>((c - lane) * k + i * TileCols() + lane)], want) << c << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace peruse::cpu
