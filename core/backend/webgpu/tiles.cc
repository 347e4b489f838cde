#include "core/backend/webgpu/tiles.h"

namespace peruse::webgpu {
namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t Workgroups(const TiledProduct& product, const Tiling& tiling) {
  return CeilDivide(product.rows, tiling.tile.rows) * CeilDivide(product.width, kTileColumns) * product.groups *
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

int32_t EnoughWorkgroups(std::string_view vendor) { return vendor == "nvidia" ? 256 : kEnoughWorkgroups; }

Tiling PlanTiles(const TiledProduct& product) {
  Tiling best = {kTileShapes.back()};
  for (const TileShape& shape : kTileShapes) {
    if (product.rows <= shape.rows / 2 && shape != kTileShapes.back()) continue;
    Tiling tiling = {shape};
    while (Workgroups(product, tiling) < product.enough_workgroups && CanSplit(product, 2 * tiling.splits)) {
      tiling.splits *= 2;
    }
    if (Workgroups(product, tiling) >= product.enough_workgroups) return tiling;
    if (Workgroups(product, tiling) > Workgroups(product, best)) best = tiling;
  }
  return best;
}

}  // namespace peruse::webgpu
