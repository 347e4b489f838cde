// Matrix products with XNNPACK's f32 GEMM microkernels, in our own loops. The right-hand matrix is packed in panels of nr columns: nr
// biases, then for each k the panel's nr values.
#pragma once

#include <cstdint>

namespace peruse::cpu {

// Size of the tile that one kernel call keeps in registers. Depends on the build and, in wasm, on the CPU family.
int64_t TileRows();
int64_t TileCols();

int64_t PackedFloats(int64_t k, int64_t n);

// Offset of column n (a multiple of TileCols()) in a packed matrix of depth k.
int64_t PanelOffset(int64_t k, int64_t n);

void ZeroBias(int64_t k, int64_t n, float* packed);

// Packs the columns [first, first + count), given as rows of length k that are `stride` floats apart. Callers must zero columns of the last
// panel that they never pack.
void PackColumns(const float* rows, int64_t stride, int64_t k, int64_t first, int64_t count, float* packed);

// PackColumns for half precision. Panels do not contain biases: each has k times TileCols() values.
void PackHalfColumns(const uint16_t* rows, int64_t stride, int64_t k, int64_t first, int64_t count, uint16_t* packed);

// Expands the columns [0, n) packed by PackHalfColumns, from the start of a panel, to floats with biases.
void ExpandHalfPanels(const uint16_t* halves, const float* biases, int64_t k, int64_t n, float* packed);

// Packs a [k, n] matrix given by rows, with zero biases. Zero-pads the last panel.
void PackMatrix(const float* values, int64_t stride, int64_t k, int64_t n, float* packed);

// c[r, 0..n) = bias + a[r, 0..k) B[.., 0..n) for r < rows, where `packed` starts at a panel of B. A result is one sum in ascending k from
// the bias, so its bits do not depend on neighbouring rows. May read, but not use, 16 bytes past the end of each row of a.
void Gemm(const float* a, int64_t a_stride, int64_t rows, int64_t k, const float* packed, int64_t n, float* c,
          int64_t c_stride);

// For tests/bench/dispatch_bench.cc: the number of kernels in this build, the chosen one, and a product with a certain kernel. All kernels
// have the same panel width.
int GemmKernels();
int ChosenGemmKernel();
const char* GemmKernelName(int kernel);
void GemmBy(int kernel, const float* a, int64_t a_stride, int64_t rows, int64_t k, const float* packed, int64_t n,
            float* c, int64_t c_stride);

}  // namespace peruse::cpu
