#include "core/backend/webgpu/tiles.h"

namespace peruse::webgpu {
namespace {

constexpr TileShape kTiles[] = {{64, 64, 8, 4}, {32, 64, 8, 4}, {16, 64, 4, 4}};
constexpr Tuning kUsual = {kTiles, 128, false, 64};
// An SM of NVIDIA's GPUs needs several workgroups of two warps to hide the latency of memory: with 256 an H200 computes DeBERTa-v3-base 1.27
// times (128 tokens) and 1.06 times (512) as fast as with 128.
constexpr Tuning kNvidia = {kTiles, 256, false, 64};
// On RDNA3 the speed of workgroup memory limits products. Threads with 8 x 8 outputs read 4 floats from it for 16 multiply-adds, instead of 6.
constexpr TileShape kAmdTiles[] = {{64, 128, 8, 8}, {64, 64, 8, 4}, {32, 64, 8, 4}, {16, 64, 4, 4}};
constexpr Tuning kAmd = {kAmdTiles, 128, false, 128};
// A thread of Intel's GPUs has 64 registers (`npm run gpu:stats`), and an execution unit has enough threads to hide the latency of memory.
constexpr TileShape kIntelTiles[] = {{32, 32, 4, 4}, {16, 64, 4, 4}};
constexpr Tuning kIntel = {kIntelTiles, 128, true, 64};

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t Workgroups(const TiledProduct& product, const Tiling& tiling) {
  return CeilDivide(product.rows, tiling.tile.rows) * CeilDivide(product.width, tiling.tile.columns) * product.groups *
         tiling.splits;
}

bool CanSplit(const TiledProduct& product, int32_t splits) {
  const int32_t slice = product.depth / splits;
  const uint64_t bytes = static_cast<uint64_t>(product.rows) * static_cast<uint64_t>(product.width) * sizeof(float) *
                         static_cast<uint64_t>(splits);
  return product.may_split && product.groups == 1 && splits <= kMostSplits && slice >= kShortestSlice &&
         product.depth % (splits * kTileDepth) == 0 && bytes <= product.most_bytes;
}

}  // namespace

const Tuning& TuningFor(std::string_view vendor) {
  if (vendor == "amd") return kAmd;
  if (vendor == "intel") return kIntel;
  if (vendor == "nvidia") return kNvidia;
  return kUsual;
}

Tiling PlanTiles(const TiledProduct& product) {
  const std::span<const TileShape> tiles = product.tuning.tiles;
  const int32_t enough_workgroups = product.tuning.enough_workgroups;
  Tiling best = {tiles.back()};
  for (const TileShape& shape : tiles) {
    const bool half_empty =
        product.rows <= shape.rows / 2 || (product.width <= shape.columns / 2 && shape.columns > tiles.back().columns);
    if (half_empty && shape != tiles.back()) continue;
    Tiling tiling = {shape};
    while (Workgroups(product, tiling) < enough_workgroups && CanSplit(product, 2 * tiling.splits)) {
      tiling.splits *= 2;
    }
    if (Workgroups(product, tiling) >= enough_workgroups) return tiling;
    if (Workgroups(product, tiling) > Workgroups(product, best)) best = tiling;
  }
  return best;
}

}  // namespace peruse::webgpu
