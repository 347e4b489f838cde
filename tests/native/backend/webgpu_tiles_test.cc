#include <gtest/gtest.h>

#include "core/backend/webgpu/tiles.h"

namespace peruse::webgpu {
namespace {

constexpr TileShape kLarge = {64, 64, 8, 4};
constexpr TileShape kMiddle = {32, 64, 8, 4};
constexpr TileShape kSmall = {16, 64, 4, 4};

int64_t Workgroups(const TiledProduct& product) {
  const Tiling tiling = PlanTiles(product);
  return int64_t{(product.rows + tiling.tile.rows - 1) / tiling.tile.rows} *
         ((product.width + tiling.tile.columns - 1) / tiling.tile.columns) * product.groups * tiling.splits;
}

TEST(WebGpuTiles, DependOnTheVendor) {
  EXPECT_EQ(TuningFor("nvidia").enough_workgroups, 256);
  EXPECT_EQ(TuningFor("").enough_workgroups, 128);
  TiledProduct output = {.rows = 128, .depth = 768, .width = 768, .may_split = true, .tuning = TuningFor("nvidia")};
  EXPECT_EQ(PlanTiles(output), (Tiling{kSmall, 4}));
  output.rows = 512;
  EXPECT_EQ(PlanTiles(output), (Tiling{kLarge, 4}));
}

// A thread has 8 x 8 outputs if that makes at least 128 workgroups.
TEST(WebGpuTiles, EightColumnsForAThread) {
  constexpr TileShape kWide = {64, 128, 8, 8};
  const Tuning& amd = TuningFor("amd");
  EXPECT_EQ(PlanTiles({.rows = 512, .depth = 768, .width = 2304, .tuning = amd}), (Tiling{kWide, 1}));
  EXPECT_EQ(PlanTiles({.rows = 512, .depth = 768, .width = 3072, .tuning = amd}), (Tiling{kWide, 1}));
  EXPECT_EQ(PlanTiles({.rows = 512, .depth = 768, .width = 768, .may_split = true, .tuning = amd}), (Tiling{kWide, 4}));
  EXPECT_EQ(PlanTiles({.rows = 512, .depth = 768, .width = 768, .tuning = amd}), (Tiling{kMiddle, 1}));
  // Columns would be half empty.
  EXPECT_EQ(PlanTiles({.rows = 8192, .depth = 768, .width = 64, .tuning = amd}), (Tiling{kLarge, 1}));
  for (const int32_t width : {768, 2304, 3072}) {
    const TiledProduct few = {.rows = 128, .depth = 768, .width = width, .may_split = width == 768};
    TiledProduct on_amd = few;
    on_amd.tuning = amd;
    EXPECT_EQ(PlanTiles(on_amd), PlanTiles(few));
  }
}

// Every tile has 16 outputs for a thread, and as many outputs, so the number of rows decides.
TEST(WebGpuTiles, FewRegisters) {
  constexpr TileShape kSquare = {32, 32, 4, 4};
  const Tuning& intel = TuningFor("intel");
  EXPECT_TRUE(intel.few_registers);
  EXPECT_FALSE(TuningFor("").few_registers);
  for (const TileShape& tile : intel.tiles) {
    EXPECT_EQ(tile.thread_rows, 4);
    EXPECT_EQ(tile.rows * tile.columns, 64 * 16);
  }
  EXPECT_EQ(PlanTiles({.rows = 128, .depth = 768, .width = 768, .may_split = true, .tuning = intel}),
            (Tiling{kSquare, 2}));
  EXPECT_EQ(PlanTiles({.rows = 512, .depth = 768, .width = 768, .may_split = true, .tuning = intel}),
            (Tiling{kSquare, 1}));
  EXPECT_EQ(PlanTiles({.rows = 17, .depth = 64, .width = 10000, .tuning = intel}).tile, kSquare);
  EXPECT_EQ(PlanTiles({.rows = 16, .depth = 64, .width = 10000, .tuning = intel}).tile, kSmall);
}

// Figures of docs/internals/gpu.md for the linear layers of a base-size model.
TEST(WebGpuTiles, OfALayerOfBaseSize) {
  const TiledProduct query_key_value = {.rows = 128, .depth = 768, .width = 2304};
  const TiledProduct output = {.rows = 128, .depth = 768, .width = 768, .may_split = true};
  const TiledProduct up = {.rows = 128, .depth = 768, .width = 3072};
  const TiledProduct down = {.rows = 128, .depth = 3072, .width = 768, .may_split = true};
  EXPECT_EQ(PlanTiles(query_key_value), (Tiling{kMiddle, 1}));
  EXPECT_EQ(Workgroups(query_key_value), 144);
  EXPECT_EQ(PlanTiles(output), (Tiling{kMiddle, 4}));
  EXPECT_EQ(Workgroups(output), 192);
  EXPECT_EQ(PlanTiles(up), (Tiling{kMiddle, 1}));
  EXPECT_EQ(Workgroups(up), 192);
  EXPECT_EQ(PlanTiles(down), (Tiling{kLarge, 8}));
  EXPECT_EQ(Workgroups(down), 192);
}

TEST(WebGpuTiles, ManyRowsTakeTheLargestTilesAndAreNotSplit) {
  EXPECT_EQ(PlanTiles({.rows = 1024, .depth = 768, .width = 768, .may_split = true}), (Tiling{kLarge, 1}));
  EXPECT_EQ(PlanTiles({.rows = 512, .depth = 768, .width = 768, .may_split = true}), (Tiling{kLarge, 2}));
}

TEST(WebGpuTiles, FewRowsTakeNoTileThatTheyLeaveHalfEmpty) {
  EXPECT_EQ(PlanTiles({.rows = 16, .depth = 64, .width = 10000}).tile, kSmall);
  EXPECT_EQ(PlanTiles({.rows = 17, .depth = 64, .width = 10000}).tile, kMiddle);
  EXPECT_EQ(PlanTiles({.rows = 32, .depth = 64, .width = 10000}).tile, kMiddle);
  EXPECT_EQ(PlanTiles({.rows = 33, .depth = 64, .width = 10000}).tile, kLarge);
}

TEST(WebGpuTiles, TooLittleForTheGpuBecomesTheSmallestTiles) {
  EXPECT_EQ(PlanTiles({.rows = 64, .depth = 64, .width = 64}), (Tiling{kSmall, 1}));
  EXPECT_EQ(PlanTiles({.rows = 1, .depth = 768, .width = 768}), (Tiling{kSmall, 1}));
  EXPECT_EQ(PlanTiles({.rows = 1, .depth = 3072, .width = 768, .may_split = true}), (Tiling{kSmall, 8}));
}

TEST(WebGpuTiles, GroupsCountAsWorkgroupsAndAreNotSplit) {
  EXPECT_EQ(PlanTiles({.rows = 128, .depth = 64, .width = 256, .groups = 12}), (Tiling{kMiddle, 1}));
  EXPECT_EQ(PlanTiles({.rows = 128, .depth = 64, .width = 256, .groups = 16}), (Tiling{kLarge, 1}));
  EXPECT_EQ(PlanTiles({.rows = 32, .depth = 768, .width = 64, .groups = 2, .may_split = true}).splits, 1);
}

TEST(WebGpuTiles, ASliceIsWholeTilesOfUsefulDepth) {
  for (int32_t depth = 1; depth <= 4096; ++depth) {
    const Tiling tiling = PlanTiles({.rows = 16, .depth = depth, .width = 64, .may_split = true});
    ASSERT_LE(tiling.splits, kMostSplits);
    if (tiling.splits == 1) continue;
    ASSERT_EQ(depth % (tiling.splits * kTileDepth), 0) << depth;
    ASSERT_GE(depth / tiling.splits, kShortestSlice) << depth;
  }
  EXPECT_EQ(PlanTiles({.rows = 16, .depth = 255, .width = 64, .may_split = true}).splits, 1);
  EXPECT_EQ(PlanTiles({.rows = 16, .depth = 256, .width = 64, .may_split = true}).splits, 2);
}

TEST(WebGpuTiles, SlicesFitIntoWhatTheyMayTake) {
  TiledProduct product = {.rows = 16, .depth = 3072, .width = 64, .may_split = true, .most_bytes = 4 * 16 * 64 * 4};
  EXPECT_EQ(PlanTiles(product).splits, 4);
  product.most_bytes -= 1;
  EXPECT_EQ(PlanTiles(product).splits, 2);
}

}  // namespace
}  // namespace peruse::webgpu
