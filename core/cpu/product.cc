#include "core/cpu/product.h"

#include <algorithm>

#include "core/cpu/simd.h"

namespace peruse::cpu {
namespace {

using namespace simd;

// The tile that one kernel call keeps in registers: rows times two vectors. It is small because x86 has only 16 registers.
constexpr int64_t kTileRows = kLanes >= 8 ? 6 : 4;
constexpr int64_t kTileCols = 2 * kLanes;
// A panel of b stays in the L1 cache, a block of a in L2, a block of b in L3.
constexpr int64_t kDepth = 256;
constexpr int64_t kBlockRows = 16 * kTileRows;
constexpr int64_t kBlockCols = 1024;

// Packs `lines` lines of `depth` elements into panels of `width` lines, interleaved by element, with zeros after the last line.
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
    int64_t line = 0;
    for (; depth_stride == 1 && line + 4 <= count; line += 4) {
      TransposeFour(panel + line * line_stride, line_stride, depth, packed + line, width);
    }
    for (; line < count; ++line) {
      const float* from = panel + line * line_stride;
      for (int64_t p = 0; p < depth; ++p) packed[p * width + line] = from[p * depth_stride];
    }
  }
}

// The rows of a for a tile: read from a packed panel, where elements of a row are kTileRows apart, or directly from a, where they are
// adjacent.
template <bool kPacked>
struct RowsOfTile {
  RowsOfTile(const float* a, int64_t stride, int64_t count) {
    for (int64_t r = 0; r < kTileRows; ++r) rows[r] = a + (kPacked ? r : std::min(r, count - 1) * stride);
  }
  float At(int64_t r, int64_t p) const { return rows[r][kPacked ? p * kTileRows : p]; }

  const float* rows[kTileRows];  // rows past the end repeat the last row; their results are unused
};

// Computes rows of a times a panel of b into out[kTileRows, kTileCols], or adds them.
template <bool kPacked>
void Tile(const RowsOfTile<kPacked> a, const float* b, int64_t depth, bool add, float* out, int64_t stride) {
  Floats left[kTileRows], right[kTileRows];
  for (int64_t r = 0; r < kTileRows; ++r) left[r] = right[r] = hn::Zero(kTag);
  for (int64_t r = 0; add && r < kTileRows; ++r) {
    left[r] = Load(out + r * stride);
    right[r] = Load(out + r * stride + kLanes);
  }
  for (int64_t p = 0; p < depth; ++p, b += kTileCols) {
    const Floats b_left = Load(b), b_right = Load(b + kLanes);
    for (int64_t r = 0; r < kTileRows; ++r) {
      const Floats value = Set(a.At(r, p));
      left[r] = Madd(value, b_left, left[r]);
      right[r] = Madd(value, b_right, right[r]);
    }
  }
  for (int64_t r = 0; r < kTileRows; ++r) {
    Store(left[r], out + r * stride);
    Store(right[r], out + r * stride + kLanes);
  }
}

// Computes rows of a times a panel of b into out[rows, cols], or adds them; tiles at the edge use a temporary whole tile.
template <bool kPacked>
void TileOrPart(const float* a, int64_t a_stride, const float* b, int64_t depth, int64_t rows, int64_t cols, bool add,
                float* out, int64_t stride) {
  const RowsOfTile<kPacked> own(a, a_stride, rows);
  if (rows >= kTileRows && cols >= kTileCols) return Tile(own, b, depth, add, out, stride);
  rows = std::min(rows, kTileRows);
  cols = std::min(cols, kTileCols);
  float whole[kTileRows * kTileCols] = {};
  for (int64_t r = 0; add && r < rows; ++r) std::copy_n(out + r * stride, cols, whole + r * kTileCols);
  Tile(own, b, depth, /*add=*/true, whole, kTileCols);
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
  const bool packs = a.col_stride != 1;  // rows whose elements are adjacent are read directly
  for (int64_t first_col = 0; first_col < n; first_col += kBlockCols) {
    const int64_t cols = std::min(kBlockCols, n - first_col);
    for (int64_t first_p = 0; first_p < k; first_p += kDepth) {
      const int64_t depth = std::min(kDepth, k - first_p);
      const bool adds = add || first_p > 0;
      Pack(b.data + first_p * b.row_stride + first_col * b.col_stride, b.col_stride, b.row_stride, cols, depth,
           kTileCols, packed_b);
      for (int64_t first_row = 0; first_row < m; first_row += kBlockRows) {
        const int64_t rows = std::min(kBlockRows, m - first_row);
        const float* const block = a.data + first_row * a.row_stride + first_p * a.col_stride;
        if (packs) Pack(block, a.row_stride, a.col_stride, rows, depth, kTileRows, packed_a);
        for (int64_t col = 0; col < cols; col += kTileCols) {
          const float* panel_b = packed_b + col * depth;
          for (int64_t row = 0; row < rows; row += kTileRows) {
            float* out = c + (first_row + row) * c_stride + first_col + col;
            if (packs) {
              TileOrPart<true>(packed_a + row * depth, 1, panel_b, depth, rows - row, cols - col, adds, out, c_stride);
            } else {
              TileOrPart<false>(block + row * a.row_stride, a.row_stride, panel_b, depth, rows - row, cols - col, adds,
                                out, c_stride);
            }
          }
        }
      }
    }
  }
}

}  // namespace peruse::cpu
