// Exact matrix products of integers: int8 weights by activations of 8 or 13 bits, summed in 32 bits.
//
// Machines multiply small integers in different ways, so there are three kernels; which one fits is found out by value
// when the program starts (ChooseInt8Path). All give the same sums, to the bit: none of them ever saturates.
//
//   kSdot  four signed bytes by four signed bytes into 32 bits: ARM's dot product
//   kUsdot four unsigned bytes by four signed bytes into 32 bits, exact for 0 to 255: x86 with VNNI. Activations are
//          shifted by 128, which the sums of each weight row take back
//   kI16   two signed 16-bit numbers by two into 32 bits: every machine
//
// Activations of 13 bits are one 16-bit number for kI16; the others split them into two bytes, 128 * high + low.
#pragma once

#include <cstdint>

#include "core/backend/xnnpack/int8_kernel.h"

namespace peruse::xnnpack {

enum class Int8Path : uint8_t { kSdot, kUsdot, kI16 };

// Whether this build has the path, and this machine computes it exactly.
bool Int8PathIsExact(Int8Path path);

// The fastest path that this machine computes exactly. Always the same.
Int8Path ChosenInt8Path();

// Columns that a kernel computes at once: the width of a panel of packed weights.
int64_t Int8TileCols();

// Depth k as stored: in whole steps of a kernel.
int64_t Int8Depth(Int8Path path, int64_t k);

// ---- Weights: [n / tile][k / step][tile][step] bytes, zero where there is no row or no k -------------------------------

// Packs columns [first, first + count), given as rows of k bytes.
void PackInt8Columns(Int8Path path, const int8_t* rows, int64_t k, int64_t first, int64_t count, int8_t* packed);
// Where the panel of column n (a multiple of the tile) starts.
inline int64_t Int8PanelOffset(Int8Path path, int64_t k, int64_t n) { return n * Int8Depth(path, k); }

// ---- Activations: tiles of four rows, [k / step][4 rows][4 bytes]; wide ones in bytes: all high parts, all low parts ----

inline constexpr int64_t kInt8TileRows = 4;
int64_t QuantizedTileBytes(Int8Path path, int64_t k, bool wide);
// Quantises `rows` (1 to kInt8TileRows) rows of k values, `stride` floats apart, each on its own
// (core/formats/quantize.h), into a tile, and gives their scales.
void QuantizeTile(Int8Path path, const float* values, int64_t stride, int64_t rows, int64_t k, bool wide, void* tile,
                  float* scales);

// ---- The product ------------------------------------------------------------------------------------------------------

// Bytes of scratch for one panel.
int64_t Int8PanelScratch(Int8Path path, int64_t k);

// One panel of weights, ready for the kernel: kI16 widens it into `scratch`.
const void* PrepareInt8Panel(Int8Path path, const int8_t* panel, int64_t k, void* scratch);

// The product of a tile and a panel, as `output` wants it. `weight_sums`: of each column's weights (kUsdot).
void MultiplyInt8Tile(Int8Path path, const void* tile, int64_t k, bool wide, const void* panel,
                      const int32_t* weight_sums, const Int8Output& output);

}  // namespace peruse::xnnpack
