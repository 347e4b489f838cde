// Matrix products by XNNPACK's f32 GEMM microkernels, called from loops of our own.
//
// The right-hand matrix is packed in panels of nr columns: nr biases, then for each k the panel's nr values.
#pragma once

#include <cstdint>

namespace peruse::xnnpack {

// Rows and columns of the tile that one kernel call keeps in registers; chosen by the build and, on wasm, by the CPU
// family underneath.
int64_t TileRows();
int64_t TileCols();

// Floats of a packed [k, n] matrix.
int64_t PackedFloats(int64_t k, int64_t n);

// Where column n (a multiple of TileCols()) of a packed matrix of depth k starts.
int64_t PanelOffset(int64_t k, int64_t n);

// Zeroes the biases of a packed matrix.
void ZeroBias(int64_t k, int64_t n, float* packed);

// Packs columns [first, first + count), given as rows of length k that are `stride` floats apart. The columns of the
// last panel that no call writes must have been zeroed.
void PackColumns(const float* rows, int64_t stride, int64_t k, int64_t first, int64_t count, float* packed);

// The same for halves, without biases: each panel is k times TileCols() halves.
void PackHalfColumns(const uint16_t* rows, int64_t stride, int64_t k, int64_t first, int64_t count, uint16_t* packed);

// Packed columns [0, n), from a multiple of TileCols(), of what PackHalfColumns packed, and their biases.
void ExpandHalfPanels(const uint16_t* halves, const float* biases, int64_t k, int64_t n, float* packed);

// Packs a [k, n] matrix given row by row, with zero bias; fills the last panel up with zeros.
void PackMatrix(const float* values, int64_t stride, int64_t k, int64_t n, float* packed);

// c[r, 0..n) = bias + a[r, 0..k) B[.., 0..n) for r < rows, where `packed` starts at a panel of B. Each result is one
// sum in ascending k from the bias, whatever row it is in: rows do not depend on their neighbours, to the bit.
// May read, not use, 16 bytes past the end of each row of a.
void Gemm(const float* a, int64_t a_stride, int64_t rows, int64_t k, const float* packed, int64_t n, float* c,
          int64_t c_stride);

// The kernels that this build has, of one panel width, and the same product by one of them: to measure whether the
// chosen one is the fastest (tests/bench/dispatch_bench.cc).
int GemmKernels();
int ChosenGemmKernel();
const char* GemmKernelName(int kernel);
void GemmBy(int kernel, const float* a, int64_t a_stride, int64_t rows, int64_t k, const float* packed, int64_t n,
            float* c, int64_t c_stride);

}  // namespace peruse::xnnpack
