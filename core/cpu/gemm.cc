#include "core/cpu/gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>

#include "core/base/half.h"
#include "core/cpu/block.h"
#include "core/cpu/simd.h"
#include "xnnpack/gemm.h"
#include "xnnpack/microparams.h"

namespace peruse::cpu {
namespace {

#if defined(__wasm__)

// Uses kernels without clamping (limits of the results), because clamping loses NaN.
using Params = xnn_f32_default_params;
constexpr Params kParams = {};

#else

// Native builds only have kernels with clamping; infinite limits change nothing.
using Params = xnn_f32_minmax_params;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Params kParams = {{-kInfinity, kInfinity}};

#endif

using KernelFunction = void (*)(size_t mr, size_t nc, size_t kc, const float* a, size_t a_stride, const float* w,
                                float* c, size_t cm_stride, size_t cn_stride, const Params* params);

struct Kernel {
  int64_t mr;
  int64_t nr;
  KernelFunction tile;  // multiplies 1 to mr rows
  KernelFunction row;   // multiplies 1 row, with the same order of summation
};

#if defined(__wasm__)

// Wasm cannot query its CPU, but the NaN of an invalid operation has its sign set on x86 and clear on ARM.
bool OnX86() {
  volatile float infinity = std::numeric_limits<float>::infinity();
  return (std::bit_cast<uint32_t>(infinity - infinity) >> 31) != 0;
}

// x86 has only 16 vector registers; ARM has 32, and duplicates lanes faster than it loads.
int ChooseKernel() { return OnX86() ? 0 : 1; }

#if defined(__wasm_relaxed_simd__)
constexpr Kernel kKernels[] = {
    {4, 8, xnn_f32_gemm_ukernel_4x8__wasmrelaxedsimd_fma_loadsplat,
     xnn_f32_gemm_ukernel_1x8__wasmrelaxedsimd_fma_loadsplat},
    {6, 8, xnn_f32_gemm_ukernel_6x8__wasmrelaxedsimd_fma_splat, xnn_f32_gemm_ukernel_1x8__wasmrelaxedsimd_fma_splat},
};
#else
constexpr Kernel kKernels[] = {
    {4, 8, xnn_f32_gemm_ukernel_4x8__wasmsimd_loadsplat, xnn_f32_gemm_ukernel_1x8__wasmsimd_loadsplat},
    {6, 8, xnn_f32_gemm_ukernel_6x8__wasmsimd_splat, xnn_f32_gemm_ukernel_1x8__wasmsimd_splat},
};
#endif

#else

int ChooseKernel() { return 0; }

#if defined(__aarch64__)
constexpr Kernel kKernels[] = {{5, 16, xnn_f32_gemm_minmax_ukernel_5x16__aarch64_neonfma_lane_ld128,
                                xnn_f32_gemm_minmax_ukernel_1x16__aarch64_neonfma_lane_ld128}};
#else
constexpr Kernel kKernels[] = {
    {5, 16, xnn_f32_gemm_minmax_ukernel_5x16__fma3_broadcast, xnn_f32_gemm_minmax_ukernel_1x16__fma3_broadcast}};
#endif

#endif

const int kChosen = ChooseKernel();
const Kernel kKernel = kKernels[kChosen];

// out[i * out_stride + j] = rows[j * stride + i] for `count` rows of k values. Not inlined, because one copy of the code is enough.
[[gnu::noinline]] void TransposeRows(const float* rows, int64_t stride, int64_t count, int64_t k, float* out,
                                     int64_t out_stride) {
  int64_t j = 0;
  for (; j + 4 <= count; j += 4) simd::TransposeFour(rows + j * stride, stride, k, out + j, out_stride);
  for (; j < count; ++j) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (int64_t i = 0; i < k; ++i) out[i * out_stride + j] = rows[j * stride + i];
  }
}

}  // namespace

int GemmKernels() { return static_cast<int>(std::size(kKernels)); }
int ChosenGemmKernel() { return kChosen; }
const char* GemmKernelName(int kernel) {
#if defined(__wasm__)
  return kernel == 0 ? "4x8 loadsplat" : "6x8 splat";
#elif defined(__aarch64__)
  return kernel == 0 ? "5x16 lane" : "";
#else
  return kernel == 0 ? "5x16 broadcast" : "";
#endif
}
int64_t TileRows() { return kKernel.mr; }
int64_t TileCols() { return kKernel.nr; }

int64_t PackedFloats(int64_t k, int64_t n) { return RoundUp(n, kKernel.nr) * (k + 1); }
int64_t PanelOffset(int64_t k, int64_t n) { return n * (k + 1); }

void ZeroBias(int64_t k, int64_t n, float* packed) {
  for (int64_t first = 0; first < n; first += kKernel.nr) {
    std::fill_n(packed + PanelOffset(k, first), kKernel.nr, 0.0f);
  }
}

void PackColumns(const float* rows, int64_t stride, int64_t k, int64_t first, int64_t count, float* packed) {
  const int64_t nr = kKernel.nr;
  while (count > 0) {
    const int64_t lane = first % nr;
    const int64_t lanes = std::min(count, nr - lane);
    float* out = packed + PanelOffset(k, first - lane) + nr + lane;
    TransposeRows(rows, stride, lanes, k, out, nr);
    rows += lanes * stride;
    first += lanes;
    count -= lanes;
  }
}

void PackHalfColumns(const uint16_t* rows, int64_t stride, int64_t k, int64_t first, int64_t count, uint16_t* packed) {
  const int64_t nr = kKernel.nr;
  while (count > 0) {
    const int64_t lane = first % nr;
    const int64_t lanes = std::min(count, nr - lane);
    uint16_t* out = packed + (first - lane) * k + lane;
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < lanes; ++j) out[i * nr + j] = rows[j * stride + i];
    }
    rows += lanes * stride;
    first += lanes;
    count -= lanes;
  }
}

void ExpandHalfPanels(const uint16_t* halves, const float* biases, int64_t k, int64_t n, float* packed) {
  const int64_t nr = kKernel.nr;  // a multiple of the vector width
  const int64_t count = k * nr;
  for (int64_t first = 0; first < n; first += nr) {
    std::memcpy(packed, biases + first, static_cast<size_t>(nr) * sizeof(float));
    packed += nr;
    for (int64_t i = 0; i < count; i += simd::kLanes) simd::Store(simd::LoadHalves(halves + i), packed + i);
    halves += count;
    packed += count;
  }
}

void PackMatrix(const float* values, int64_t stride, int64_t k, int64_t n, float* packed) {
  const int64_t nr = kKernel.nr;
  for (int64_t first = 0; first < n; first += nr) {
    const int64_t lanes = std::min(nr, n - first);
    std::fill_n(packed, nr, 0.0f);
    packed += nr;
    for (int64_t i = 0; i < k; ++i, packed += nr) {
      simd::Copy(values + i * stride + first, lanes, packed);
      if (lanes < nr) std::fill_n(packed + lanes, nr - lanes, 0.0f);
    }
  }
}

namespace {

inline void Multiply(const Kernel& by, const float* a, int64_t a_stride, int64_t rows, int64_t k, const float* packed,
                     int64_t n, float* c, int64_t c_stride) {
  constexpr size_t kFloat = sizeof(float);
  const size_t row_bytes = static_cast<size_t>(c_stride) * kFloat;
  const size_t tile_bytes = static_cast<size_t>(by.nr) * kFloat;
  for (int64_t r = 0; r < rows; r += by.mr) {
    const int64_t tile = std::min(by.mr, rows - r);
    const KernelFunction kernel = tile == 1 ? by.row : by.tile;
    kernel(static_cast<size_t>(tile), static_cast<size_t>(n), static_cast<size_t>(k) * kFloat, a + r * a_stride,
           static_cast<size_t>(a_stride) * kFloat, packed, c + r * c_stride, row_bytes, tile_bytes, &kParams);
  }
}

}  // namespace

void Gemm(const float* a, int64_t a_stride, int64_t rows, int64_t k, const float* packed, int64_t n, float* c,
          int64_t c_stride) {
  Multiply(kKernel, a, a_stride, rows, k, packed, n, c, c_stride);
}

void GemmBy(int kernel, const float* a, int64_t a_stride, int64_t rows, int64_t k, const float* packed, int64_t n,
            float* c, int64_t c_stride) {
  Multiply(kKernels[kernel], a, a_stride, rows, k, packed, n, c, c_stride);
}

}  // namespace peruse::cpu
