// Chooses the tiles of a product (linear_tile.wgsl). Depends on its size and the GPU's vendor only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace peruse::webgpu {

struct TileShape {
  int32_t rows;            // rows of a workgroup's tile
  int32_t columns;         // columns of a workgroup's tile
  int32_t thread_rows;     // rows of one thread: 4 or 8
  int32_t thread_columns;  // columns of one thread: 4, or 8 with 8 rows

  bool operator==(const TileShape&) const = default;
};

inline constexpr int32_t kTileDepth = 16;  // counted in elements of k, or in words of int8 values

inline constexpr int32_t kShortSpanStep = 64;  // the depth of these tiles otherwise

// Parameters of the shaders that depend on the GPU's vendor.
struct Tuning {
  std::span<const TileShape> tiles;  // ordered from best data reuse to most parallelism
  // Products are split until they have this many workgroups. On GPUs with fewer cores this only costs a smaller tile.
  int32_t enough_workgroups;
  bool few_registers;  // shaders keep fewer values of a thread, and do not load ahead
  int32_t span_step;   // depth of the tiles of linear_span_conv.wgsl, if the depth is a multiple of it: 64 or 128
};

// Returns the parameters for GPUs of this vendor (GPUAdapterInfo.vendor, "" if unknown).
const Tuning& TuningFor(std::string_view vendor);

// Minimum depth of a slice: below it, the fixed costs of a workgroup exceed those of its products.
inline constexpr int32_t kShortestSlice = 128;
// Limits the memory traffic of slices, which are written, then read again to be summed.
inline constexpr int32_t kMostSplits = 8;

struct TiledProduct {
  int32_t rows = 0;  // rows of the largest text in the length bucket, so that all its texts share buffers
  int32_t depth = 0;
  int32_t width = 0;  // columns of one group
  int32_t groups = 1;
  bool may_split = false;            // whether the next operation can sum the slices
  uint64_t most_bytes = UINT64_MAX;  // memory limit of the slices
  Tuning tuning = TuningFor("");
};

struct Tiling {
  TileShape tile;
  int32_t splits = 1;  // number of slices of the depth; their depths are multiples of kTileDepth

  bool operator==(const Tiling&) const = default;
};

// Returns the first shape with enough workgroups, and the fewest splits for that; if no shape has enough, the one with the most. Skips
// shapes that would be more than half empty where a later one is not, except the last.
Tiling PlanTiles(const TiledProduct& product);

}  // namespace peruse::webgpu
