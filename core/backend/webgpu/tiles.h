// Which tiles a product is cut into (linear_tile.wgsl): a function of its size alone.
#pragma once

#include <array>
#include <cstdint>

namespace peruse::webgpu {

struct TileShape {
  int32_t rows;         // of a workgroup's tile; its columns are kTileColumns
  int32_t thread_rows;  // of one thread, which has four columns

  bool operator==(const TileShape&) const = default;
};

inline constexpr int32_t kTileColumns = 64;
inline constexpr int32_t kTileDepth = 16;  // elements of k, or words of int8
// From the one that reads least of workgroup memory for a product to the one that makes most workgroups.
inline constexpr std::array<TileShape, 3> kTileShapes = {{{64, 8}, {32, 8}, {16, 4}}};

// Products are cut until there are so many workgroups: one for each core of the largest GPUs (132 in an H200). Of smaller GPUs
// each core gets several, which costs them nothing but the smaller tile.
inline constexpr int32_t kEnoughWorkgroups = 128;
// What is left of k for each when it is split: below that, what a workgroup does once outweighs its products.
inline constexpr int32_t kShortestSlice = 128;
// Every part of a split is written, and read again by who adds them up.
inline constexpr int32_t kMostSplits = 8;

struct TiledProduct {
  int32_t rows = 0;  // the most of any text of the same length bucket, so that each of these has the same buffers
  int32_t depth = 0;
  int32_t width = 0;  // of one group
  int32_t groups = 1;
  bool may_split = false;            // somebody adds parts of k up
  uint64_t most_bytes = UINT64_MAX;  // that these parts may take
};

struct Tiling {
  TileShape tile;
  int32_t splits = 1;  // slices of k, each of a multiple of kTileDepth

  bool operator==(const Tiling&) const = default;
};

// The first shape that makes enough workgroups, with the fewest splits that do; if none does, that with the most workgroups. Shapes of
// which more than half would lie below the last row are passed over, but for the last.
Tiling PlanTiles(const TiledProduct& product);

}  // namespace peruse::webgpu
