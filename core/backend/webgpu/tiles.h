// Chooses the tiles of a product (linear_tile.wgsl), depending on its size only.
#pragma once

#include <array>
#include <cstdint>

namespace peruse::webgpu {

struct TileShape {
  int32_t rows;         // of a workgroup's tile, which has kTileColumns columns
  int32_t thread_rows;  // of one thread, which has four columns

  bool operator==(const TileShape&) const = default;
};

inline constexpr int32_t kTileColumns = 64;
inline constexpr int32_t kTileDepth = 16;  // elements of k, or words of int8
// Ordered from best data reuse to most parallelism.
inline constexpr std::array<TileShape, 3> kTileShapes = {{{64, 8}, {32, 8}, {16, 4}}};

// Products are split until they have this many workgroups: one per core of the largest GPUs (132 in an H200). Smaller GPUs get several per
// core, at the cost of a smaller tile only.
inline constexpr int32_t kEnoughWorkgroups = 128;
// Minimum depth of a slice: below that, fixed costs of a workgroup outweigh its products.
inline constexpr int32_t kShortestSlice = 128;
// Limits the memory traffic of slices, which are written and read again to be summed.
inline constexpr int32_t kMostSplits = 8;

struct TiledProduct {
  int32_t rows = 0;  // maximum of the length bucket, so that its texts share buffers
  int32_t depth = 0;
  int32_t width = 0;  // of one group
  int32_t groups = 1;
  bool may_split = false;            // a later operation sums slices
  uint64_t most_bytes = UINT64_MAX;  // limit for the slices' memory
};

struct Tiling {
  TileShape tile;
  int32_t splits = 1;  // slices of the depth, each a multiple of kTileDepth

  bool operator==(const Tiling&) const = default;
};

// Returns the first shape with enough workgroups and the fewest splits for that; if none has enough, the one with the most. Skips shapes
// (except the last) that would be more than half empty.
Tiling PlanTiles(const TiledProduct& product);

}  // namespace peruse::webgpu
