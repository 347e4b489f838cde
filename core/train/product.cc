#include "core/train/product.h"

#include <algorithm>

#include "core/backend/xnnpack/simd.h"

namespace peruse::train {
namespace {

using namespace simd;  // NOLINT: this file is vector code throughout

// The tile that one kernel call keeps in registers: rows times two vectors, of the 16 that x86 has.
constexpr int64_t kTileRows = kLanes >= 8 ? 6 : 4;
constexpr int64_t kTileCols = 2 * kLanes;
// A panel of b stays in the first-level cache, a block of a in the second, of b in the third.
constexpr int64_t kDepth = 256;
constexpr int64_t kBlockRows = 16 * kTileRows;
constexpr int64_t kBlockCols = 1024;

constexpr int64_t RoundUp(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Packs `lines` lines of `depth` elements in panels of `width` lines: for each element the panel's lines side by side, zeros for
// those past the end.
void Pack(const float* data, int64_t line_stride, int64_t depth_stride, int64_t lines, int64_t depth, int64_t width,
          float* packed) {
  for (int64_t first = 0; first < lines; first += width, packed += width * depth) {
    const float* panel = data + first * line_stride;
    const int64_t count = std::min(width, lines - first);
    if (count < width) std::fill_n(packed, width * depth, 0.0f);
    if (line_stride == 1 && count == width) {
      for (int64_t p = 0; p < depth; ++p) simd::Copy(panel + p * depth_stride, width, packed + p * width);
      continue;
    }
    for (int64_t line = 0; line < count; ++line) {
      const float* from = panel + line * line_stride;
      for (int64_t p = 0; p < depth; ++p) packed[p * width + line] = from[p * depth_stride];
    }
  }
}

// out[kTileRows, kTileCols] (+)= a panel times b panel.
template <bool kAdd>
void Tile(const float* a, const float* b, int64_t depth, float* out, int64_t stride) {
  Floats left[kTileRows], right[kTileRows];
  for (int64_t r = 0; r < kTileRows; ++r) {
    left[r] = kAdd ? Load(out + r * stride) : hn::Zero(kTag);
    right[r] = kAdd ? Load(out + r * stride + kLanes) : hn::Zero(kTag);
  }
  for (int64_t p = 0; p < depth; ++p, a += kTileRows, b += kTileCols) {
    const Floats b_left = Load(b), b_right = Load(b + kLanes);
    for (int64_t r = 0; r < kTileRows; ++r) {
      const Floats value = Set(a[r]);
      left[r] = Madd(value, b_left, left[r]);
      right[r] = Madd(value, b_right, right[r]);
    }
  }
  for (int64_t r = 0; r < kTileRows; ++r) {
    Store(left[r], out + r * stride);
    Store(right[r], out + r * stride + kLanes);
  }
}

// A tile at the edge goes by way of a whole one.
void EdgeTile(const float* a, const float* b, int64_t depth, int64_t rows, int64_t cols, float* out, int64_t stride,
              bool add) {
  float whole[kTileRows * kTileCols] = {};
  for (int64_t r = 0; add && r < rows; ++r) std::copy_n(out + r * stride, cols, whole + r * kTileCols);
  Tile<true>(a, b, depth, whole, kTileCols);
  for (int64_t r = 0; r < rows; ++r) std::copy_n(whole + r * kTileCols, cols, out + r * stride);
}

}  // namespace

Status Products::Allocate() {
  PERUSE_RETURN_IF_ERROR(a_.Resize(static_cast<size_t>(kBlockRows * kDepth)));
  return b_.Resize(static_cast<size_t>(RoundUp(kBlockCols, kTileCols) * kDepth));
}

void Products::Run(int64_t m, int64_t n, int64_t k, const Operand& a, const Operand& b, float* c, int64_t c_stride,
                   bool add) {
  if (k == 0 && !add) {
    for (int64_t r = 0; r < m; ++r) std::fill_n(c + r * c_stride, n, 0.0f);
  }
  float* const packed_a = a_.values().data();
  float* const packed_b = b_.values().data();
  for (int64_t first_col = 0; first_col < n; first_col += kBlockCols) {
    const int64_t cols = std::min(kBlockCols, n - first_col);
    for (int64_t first_p = 0; first_p < k; first_p += kDepth) {
      const int64_t depth = std::min(kDepth, k - first_p);
      const bool adds = add || first_p > 0;
      Pack(b.data + first_p * b.row_stride + first_col * b.col_stride, b.col_stride, b.row_stride, cols, depth,
           kTileCols, packed_b);
      for (int64_t first_row = 0; first_row < m; first_row += kBlockRows) {
        const int64_t rows = std::min(kBlockRows, m - first_row);
        Pack(a.data + first_row * a.row_stride + first_p * a.col_stride, a.row_stride, a.col_stride, rows, depth,
             kTileRows, packed_a);
        for (int64_t col = 0; col < cols; col += kTileCols) {
          const float* panel_b = packed_b + col * depth;
          for (int64_t row = 0; row < rows; row += kTileRows) {
            const float* panel_a = packed_a + row * depth;
            float* out = c + (first_row + row) * c_stride + first_col + col;
            if (rows - row < kTileRows || cols - col < kTileCols) {
              EdgeTile(panel_a, panel_b, depth, std::min(kTileRows, rows - row), std::min(kTileCols, cols - col), out,
                       c_stride, adds);
            } else if (adds) {
              Tile<true>(panel_a, panel_b, depth, out, c_stride);
            } else {
              Tile<false>(panel_a, panel_b, depth, out, c_stride);
            }
          }
        }
      }
    }
  }
}

}  // namespace peruse::train
