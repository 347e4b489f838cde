#include "core/backend/xnnpack/quantized_linear.h"

#include <algorithm>

#include "core/backend/xnnpack/activations.h"
#include "core/backend/xnnpack/int8_gemm.h"

namespace peruse::xnnpack {
namespace {

constexpr int64_t kFloat = sizeof(float);
constexpr int64_t kRowBlockBytes = 256 << 10;  // quantised rows that stay in the second-level cache
constexpr int64_t kColBlock = 64;              // a multiple of Int8TileCols(); wide enough for the activation function

// What a run needs beside its operands.
struct Plan {
  Plan(const PackedLinear& weight, int64_t row_count)
      : path(ChosenInt8Path()),
        depth(weight.depth()),
        groups(weight.spec().groups),
        rows(row_count),
        wide(weight.spec().wide_input),
        tiles((rows + kInt8TileRows - 1) / kInt8TileRows),
        tile_bytes(QuantizedTileBytes(path, depth, wide)),
        scale_bytes(RoundUp(groups * rows * kFloat, kAlignment)),
        input_bytes(RoundUp(groups * tiles * tile_bytes, kAlignment)),
        panel_bytes(RoundUp(Int8PanelScratch(path, depth), kAlignment)) {}

  const Int8Path path;
  const int64_t depth;
  const int64_t groups;
  const int64_t rows;
  const bool wide;
  const int64_t tiles;  // of rows
  const int64_t tile_bytes;
  const int64_t scale_bytes;  // [groups, rows] scales
  const int64_t input_bytes;  // [groups, tiles, tile_bytes]
  const int64_t panel_bytes;  // of each thread
};

// Rows of one block: as many as stay cached, fewer if there would otherwise be too few tasks to go round.
int64_t BlockRows(const Plan& plan, int64_t col_blocks, int32_t threads) {
  int64_t size = std::min(plan.rows, std::max<int64_t>(kRowBlockBytes / plan.tile_bytes, 4) * kInt8TileRows);
  if (threads > 1) {
    const int64_t row_blocks = (3 * threads + col_blocks - 1) / col_blocks;
    size = std::min(size, (plan.rows + row_blocks - 1) / row_blocks);
  }
  return RoundUp(std::max<int64_t>(size, 1), kInt8TileRows);
}

}  // namespace

int64_t QuantizedLinearScratch(const PackedLinear& weight, int64_t rows, int32_t threads) {
  const Plan plan(weight, rows);
  return (plan.scale_bytes + plan.input_bytes + threads * plan.panel_bytes) / kFloat;
}

void RunQuantizedLinear(const ThreadPool& pool, const Block& x, int64_t group_step, const PackedLinear& weight,
                        Activation activation, float* scratch, const Block& out) {
  const Plan plan(weight, x.rows);
  float* row_scales = scratch;
  std::byte* inputs = reinterpret_cast<std::byte*>(scratch) + plan.scale_bytes;
  std::byte* panel_scratch = inputs + plan.input_bytes;

  pool.ForRows(plan.groups * plan.tiles, 2, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      const int64_t group = i / plan.tiles;
      const int64_t row = i % plan.tiles * kInt8TileRows;
      QuantizeTile(plan.path, x.row(row) + group * group_step, x.stride, std::min(kInt8TileRows, plan.rows - row),
                   plan.depth, plan.wide, inputs + i * plan.tile_bytes, row_scales + group * plan.rows + row);
    }
  });

  const int64_t width = weight.group_width();
  const int64_t tile_cols = Int8TileCols();
  const int64_t group_blocks = (width + kColBlock - 1) / kColBlock;
  const int64_t col_blocks = group_blocks * plan.groups;
  const int64_t block_rows = BlockRows(plan, col_blocks, pool.threads());
  const int64_t row_blocks = (plan.rows + block_rows - 1) / block_rows;
  // Within a block of rows the panels follow each other, so that the rows stay cached.
  pool.For(row_blocks * col_blocks, [&](int32_t thread, int64_t task) {
    const int64_t first_row = task / col_blocks * block_rows;
    const int64_t end_row = std::min(first_row + block_rows, plan.rows);
    const int64_t group = task % col_blocks / group_blocks;
    const int64_t first_col = task % col_blocks % group_blocks * kColBlock;
    const int64_t end_col = std::min(first_col + kColBlock, width);
    float* const result = out.data + group * width;
    for (int64_t col = first_col; col < end_col; col += tile_cols) {
      const void* panel = PrepareInt8Panel(plan.path, weight.Int8Panels(group, col), plan.depth,
                                           panel_scratch + thread * plan.panel_bytes);
      for (int64_t r = first_row; r < end_row; r += kInt8TileRows) {
        const Int8Output output = {row_scales + group * plan.rows + r,
                                   weight.scales(group) + col,
                                   weight.biases(group) + col,
                                   result + r * out.stride + col,
                                   out.stride,
                                   std::min(kInt8TileRows, end_row - r),
                                   std::min(tile_cols, end_col - col)};
        MultiplyInt8Tile(plan.path, inputs + (group * plan.tiles + r / kInt8TileRows) * plan.tile_bytes, plan.depth,
                         plan.wide, panel, weight.weight_sums(group) + col, output);
      }
    }
    if (activation == Activation::kNone) return;
    for (int64_t r = first_row; r < end_row; ++r) {  // while the block is cached
      float* row = result + r * out.stride + first_col;
      ActivateRow(row, end_col - first_col, activation, row);
    }
  });
}

}  // namespace peruse::xnnpack
