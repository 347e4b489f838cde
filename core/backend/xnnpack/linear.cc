#include "core/backend/xnnpack/linear.h"

#include <algorithm>

#include "core/backend/xnnpack/activations.h"
#include "core/backend/xnnpack/gemm.h"
#include "core/backend/xnnpack/layer_norm.h"
#include "core/backend/xnnpack/multiply.h"
#include "core/backend/xnnpack/quantized_linear.h"

namespace peruse::xnnpack {
namespace {

// A block of panels that stays in the second-level cache while rows pass by; a block of rows that stays in the third.
constexpr int64_t kPanelBlockBytes = 256 << 10;
constexpr int64_t kRowBlock = 240;  // a multiple of 4, 5 and 6, the kernels' tile rows

// Columns of one block: whole panels, as many as fit kPanelBlockBytes, at least one.
int64_t BlockCols(int64_t depth) {
  const int64_t panel_bytes = PackedFloats(depth, TileCols()) * static_cast<int64_t>(sizeof(float));
  return std::max<int64_t>(1, kPanelBlockBytes / panel_bytes) * TileCols();
}

// Rows of one block: fewer if there would otherwise be too few tasks to go round.
int64_t BlockRows(int64_t rows, int64_t col_blocks, int32_t threads) {
  int64_t size = std::min(rows, kRowBlock);
  if (threads > 1) {
    const int64_t row_blocks = (3 * threads + col_blocks - 1) / col_blocks;
    size = std::min(size, (rows + row_blocks - 1) / row_blocks);
  }
  return RoundUp(std::max<int64_t>(size, 1), TileRows());
}

}  // namespace

int64_t LinearScratch(const PackedLinear& weight, int64_t rows, int32_t threads) {
  if (weight.spec().precision == Precision::kQ8) return QuantizedLinearScratch(weight, rows, threads);
  if (weight.spec().precision != Precision::kF16) return 0;
  const int64_t cols = std::min(BlockCols(weight.depth()), weight.group_width());
  return threads * PackedFloats(weight.depth(), cols);
}

void RunLinear(const ThreadPool& pool, const Block& x, int64_t group_step, const PackedLinear& weight,
               Activation activation, float* scratch, const Block& out) {
  if (weight.spec().precision == Precision::kQ8) {
    return RunQuantizedLinear(pool, x, group_step, weight, activation, scratch, out);
  }
  const int64_t depth = weight.depth();
  const int64_t width = weight.group_width();
  const int64_t cols = std::min(BlockCols(depth), RoundUp(width, TileCols()));
  const int64_t group_blocks = (width + cols - 1) / cols;
  const int64_t col_blocks = group_blocks * weight.spec().groups;
  const int64_t rows = BlockRows(x.rows, col_blocks, pool.threads());
  const int64_t row_blocks = (x.rows + rows - 1) / rows;

  // Within a block of rows the panels follow each other, so that the rows stay cached.
  const int64_t thread_scratch = PackedFloats(depth, std::min(cols, width));
  pool.For(row_blocks * col_blocks, [&](int32_t thread, int64_t task) {
    const int64_t first_row = task / col_blocks * rows;
    const int64_t end_row = std::min(first_row + rows, x.rows);
    const int64_t group = task % col_blocks / group_blocks;
    const int64_t first_col = task % col_blocks % group_blocks * cols;
    const int64_t n = std::min(cols, width - first_col);
    const float* panels = weight.Panels(group, first_col, n, scratch + thread * thread_scratch);
    for (int64_t r = first_row; r < end_row; r += TileRows()) {
      const int64_t tile = std::min(TileRows(), end_row - r);
      float* result = out.row(r) + group * width + first_col;
      Gemm(x.row(r) + group * group_step, x.stride, tile, depth, panels, n, result, out.stride);
      if (activation == Activation::kNone) continue;
      for (int64_t i = 0; i < tile; ++i) {  // while the tile is in the first-level cache
        ActivateRow(result + i * out.stride, n, activation, result + i * out.stride);
      }
    }
  });
}

Status Project(Runner& r, const Block& x, LinearId weight, Activation activation, const Block& out) {
  const PackedLinear& packed = r.linear(weight);
  const Scratch scratch(r, LinearScratch(packed, x.rows, r.pool().threads()) * static_cast<int64_t>(sizeof(float)));
  if (!scratch) return NoWorkspace();
  RunLinear(r.pool(), x, packed.depth(), packed, activation, scratch.floats(), out);
  return OkStatus();
}

Status Run(Runner& r, const ops::Linear& op) {
  const Block out = r.View(op.out);
  PERUSE_RETURN_IF_ERROR(Project(r, r.View(op.x), op.weight, op.activation, out));
  // What is left runs over `out`: the extra pass costs less than reading the weights once per tile of rows would.
  if (op.factor.valid()) MultiplyBlocks(r.pool(), out, r.View(op.factor), out);
  if (op.norm.valid()) AddNormRows(r.pool(), out, r.View(op.residual), r.View(op.norm), out);
  return OkStatus();
}

}  // namespace peruse::xnnpack
