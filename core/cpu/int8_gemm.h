// Exact integer matrix products: int8 weights by activations of 8 or 13 bits, summed in 32 bits. CPUs multiply small integers in different
// ways, so there are three kernels; a probe at program start selects one. None saturates, so all give the same sums.
//
//   kSdot  four signed bytes by four signed bytes into 32 bits: ARM's dot product
//   kUsdot four unsigned bytes by four signed bytes into 32 bits, exact for 0 to 255: x86 with VNNI
//   kI16   two signed 16-bit numbers by two into 32 bits: every CPU
//
// Activations are one 16-bit number for kI16. For kSdot and kUsdot, each row of 8-bit ones is shifted into the range of a byte, and 13-bit
// ones are split into two bytes, 128 * high + low, which are signed and for kUsdot shifted by 128. The sums of each weight row correct for
// shifts.
#pragma once

#include <cstdint>

#include "core/cpu/int8_kernel.h"

namespace peruse::cpu {

enum class Int8Path : uint8_t { kSdot, kUsdot, kI16 };

bool Int8PathIsExact(Int8Path path);

// Returns the fastest exact path, always the same.
Int8Path ChosenInt8Path();

// Columns per kernel call: the width of a panel of packed weights.
int64_t Int8TileCols();

// Rounds depth k up to whole kernel steps.
int64_t Int8Depth(Int8Path path, int64_t k);

// Weights are [n / tile][k / step][tile][step] bytes, zero-padded.

// Packs the columns [first, first + count), given as rows of k bytes.
void PackInt8Columns(Int8Path path, const int8_t* rows, int64_t k, int64_t first, int64_t count, int8_t* packed);
// Offset of the panel that starts with column n, a multiple of the tile width.
inline int64_t Int8PanelOffset(Int8Path path, int64_t k, int64_t n) { return n * Int8Depth(path, k); }

// Activations are tiles of four rows, [k / step][4 rows][4 bytes]; 13-bit ones are two such tiles, of all high bytes and all low bytes.

inline constexpr int64_t kInt8TileRows = 4;
int64_t QuantizedTileBytes(Int8Path path, int64_t k, bool wide);
// Quantises 1 to kInt8TileRows rows of k values, `stride` floats apart, into a tile. Returns each row's scale (core/formats/quantize.h), and
// how far its bytes are below its integers.
void QuantizeTile(Int8Path path, const float* values, int64_t stride, int64_t rows, int64_t k, bool wide, void* tile,
                  float* scales, int32_t* offsets);

// A panel of weights as the kernel reads it: bytes, or for kI16 16-bit integers.
struct Int8Panel {
  const void* weights;
  const int32_t* sums;  // of the panel's columns
  void* widened =
      nullptr;  // kI16: if set, `weights` are bytes, and the product also writes them here as 16-bit integers

  // The panel for the products after the first.
  Int8Panel Next() const { return {widened != nullptr ? widened : weights, sums}; }
};

// Bytes of Int8Panel::widened; 0 if `path` does not need it.
int64_t Int8PanelScratch(Int8Path path, int64_t k);

// Writes the sum of each column of a panel, if `path` needs them (kSdot, kUsdot).
void SumInt8Columns(Int8Path path, const void* panel, int64_t k, int32_t* sums);

// Multiplies a tile by a panel, and finishes with `output`. `offsets`: of the tile's rows, four must be readable.
void MultiplyInt8Tile(Int8Path path, const void* tile, const int32_t* offsets, int64_t k, bool wide,
                      const Int8Panel& panel, const Int8Output& output);

}  // namespace peruse::cpu
