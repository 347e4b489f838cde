#include "core/cpu/int8_linear.h"

#include <algorithm>

#include "core/cpu/activations.h"

namespace peruse::cpu {
namespace {

constexpr int64_t kFloat = sizeof(float);
constexpr int64_t kRowBlockBytes = 256 << 10;  // bytes of quantised rows that stay in the L2 cache
// columns per block: a multiple of Int8TileCols(), and wide enough to apply the activation function efficiently
constexpr int64_t kColBlock = 64;

struct Plan {
  Plan(const PackedLinear& weight, int64_t row_count, int64_t panel_scratch)
      : path(ChosenInt8Path()),
        depth(weight.depth()),
        groups(weight.spec().groups),
        rows(row_count),
        wide(weight.spec().wide_input),
        tiles((rows + kInt8TileRows - 1) / kInt8TileRows),
        tile_bytes(QuantizedTileBytes(path, depth, wide)),
        row_numbers(RoundUp(groups * rows + kInt8TileRows, kAlignment / kFloat)),
        input_bytes(RoundUp(groups * tiles * tile_bytes, kAlignment)),
        panel_bytes(RoundUp(panel_scratch, kAlignment)) {}

  const Int8Path path;
  const int64_t depth;
  const int64_t groups;
  const int64_t rows;
  const bool wide;
  const int64_t tiles;
  const int64_t tile_bytes;
  const int64_t row_numbers;  // [groups, rows] scales, and as many offsets; the last tile reads past their end
  const int64_t input_bytes;  // [groups, tiles, tile_bytes]
  const int64_t panel_bytes;  // scratch memory of each thread
};

// Returns the rows per block: limited by the cache, and fewer if the threads would otherwise have too few tasks.
int64_t BlockRows(const Plan& plan, int64_t col_blocks, int32_t threads) {
  int64_t size = std::min(plan.rows, std::max<int64_t>(kRowBlockBytes / plan.tile_bytes, 4) * kInt8TileRows);
  if (threads > 1) {
    const int64_t row_blocks = (3 * threads + col_blocks - 1) / col_blocks;
    size = std::min(size, (plan.rows + row_blocks - 1) / row_blocks);
  }
  return RoundUp(std::max<int64_t>(size, 1), kInt8TileRows);
}

}  // namespace

int64_t Int8Linear::Scratch(int64_t rows, int32_t threads) const {
  const Plan plan(*this, rows, PanelScratch());
  return 2 * plan.row_numbers + (plan.input_bytes + threads * plan.panel_bytes) / kFloat;
}

void Int8Linear::Run(const ThreadPool& pool, const Block& x, int64_t group_step, int64_t first_output,
                     Activation activation, float* scratch, const Block& out) const {
  const Plan plan(*this, x.rows, PanelScratch());
  float* row_scales = scratch;
  int32_t* row_offsets = reinterpret_cast<int32_t*>(scratch + plan.row_numbers);
  std::byte* inputs = reinterpret_cast<std::byte*>(scratch + 2 * plan.row_numbers);
  std::byte* panel_scratch = inputs + plan.input_bytes;

  pool.ForRows(plan.groups * plan.tiles, 2, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) {
      const int64_t group = i / plan.tiles;
      const int64_t row = i % plan.tiles * kInt8TileRows;
      const int64_t number = group * plan.rows + row;
      QuantizeTile(plan.path, x.row(row) + group * group_step, x.stride, std::min(kInt8TileRows, plan.rows - row),
                   plan.depth, plan.wide, inputs + i * plan.tile_bytes, row_scales + number, row_offsets + number);
    }
  });

  const int64_t width = std::min(group_width(), out.cols);
  const int64_t tile_cols = Int8TileCols();
  const int64_t group_blocks = (width + kColBlock - 1) / kColBlock;
  const int64_t col_blocks = group_blocks * plan.groups;
  const int64_t block_rows = BlockRows(plan, col_blocks, pool.threads());
  const int64_t row_blocks = (plan.rows + block_rows - 1) / block_rows;
  // Iterates over panels within a block of rows, so that the rows stay cached.
  pool.For(row_blocks * col_blocks, [&](int32_t thread, int64_t task) {
    const int64_t first_row = task / col_blocks * block_rows;
    const int64_t end_row = std::min(first_row + block_rows, plan.rows);
    const int64_t group = task % col_blocks / group_blocks;
    const int64_t first_col = task % col_blocks % group_blocks * kColBlock;
    const int64_t end_col = std::min(first_col + kColBlock, width);
    float* const result = out.data + group * width;
    for (int64_t col = first_col; col < end_col; col += tile_cols) {
      const int64_t output = first_output + col;
      Int8Panel panel = Prepare(group, output, panel_scratch + thread * plan.panel_bytes);
      for (int64_t r = first_row; r < end_row; r += kInt8TileRows) {
        const int64_t number = group * plan.rows + r;
        const Int8Output result_tile = {row_scales + number,
                                        columns(kScales, group) + output,
                                        columns(kBiases, group) + output,
                                        result + r * out.stride + col,
                                        out.stride,
                                        std::min(kInt8TileRows, end_row - r),
                                        std::min(tile_cols, end_col - col)};
        MultiplyInt8Tile(plan.path, inputs + (group * plan.tiles + r / kInt8TileRows) * plan.tile_bytes,
                         row_offsets + number, plan.depth, plan.wide, panel, result_tile);
        panel = panel.Next();
      }
    }
    if (activation == Activation::kNone) return;
    for (int64_t r = first_row; r < end_row; ++r) {  // applied now, while the block is cached
      float* row = result + r * out.stride + first_col;
      ActivateRow(row, end_col - first_col, activation, row);
    }
  });
}

}  // namespace peruse::cpu
