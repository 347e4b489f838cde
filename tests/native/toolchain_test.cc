// That the toolchain, the flags and the third-party pieces work together: a matrix product by an XNNPACK microkernel
// equals a naive one, and the thread pool visits every index once.
#include <gtest/gtest.h>
#include <pthreadpool.h>

#include <atomic>
#include <cstddef>
#include <limits>
#include <vector>

#include "xnnpack/gemm.h"

namespace peruse {
namespace {

#if defined(__wasm_relaxed_simd__)
constexpr auto kKernel = xnn_f32_gemm_minmax_ukernel_4x8__wasmrelaxedsimd_fma_loadsplat;
constexpr size_t kRows = 4, kColumns = 8;
#elif defined(__wasm_simd128__)
constexpr auto kKernel = xnn_f32_gemm_minmax_ukernel_4x8__wasmsimd_x86_loadsplat;
constexpr size_t kRows = 4, kColumns = 8;
#elif defined(__x86_64__)
constexpr auto kKernel = xnn_f32_gemm_minmax_ukernel_5x16__fma3_broadcast;
constexpr size_t kRows = 5, kColumns = 16;
#else
constexpr auto kKernel = xnn_f32_gemm_minmax_ukernel_5x16__aarch64_neonfma_lane_ld128;
constexpr size_t kRows = 5, kColumns = 16;
#endif

// Small integers, so that every sum is exact in float whatever the order.
float Value(size_t i) { return static_cast<float>(static_cast<int>(i * 7919 % 17) - 8); }

TEST(Toolchain, GemmMicrokernelEqualsNaiveProduct) {
  constexpr size_t kInner = 37;
  std::vector<float> a(kRows * kInner + 4), b(kInner * kColumns), bias(kColumns);
  for (size_t i = 0; i < kRows * kInner; ++i) a[i] = Value(i);
  for (size_t i = 0; i < b.size(); ++i) b[i] = Value(i + 5);
  for (size_t i = 0; i < kColumns; ++i) bias[i] = Value(i + 11);
  std::vector<float> packed(bias);  // One panel: the bias, then the rows of b.
  packed.insert(packed.end(), b.begin(), b.end());
  std::vector<float> c(kRows * kColumns);
  xnn_f32_minmax_params params;
  params.scalar.min = -std::numeric_limits<float>::infinity();
  params.scalar.max = std::numeric_limits<float>::infinity();

  kKernel(kRows, kColumns, kInner * sizeof(float), a.data(), kInner * sizeof(float), packed.data(), c.data(),
          kColumns * sizeof(float), kColumns * sizeof(float), &params);

  for (size_t row = 0; row < kRows; ++row) {
    for (size_t column = 0; column < kColumns; ++column) {
      float expected = bias[column];
      for (size_t k = 0; k < kInner; ++k) expected += a[row * kInner + k] * b[k * kColumns + column];
      EXPECT_EQ(c[row * kColumns + column], expected) << "row " << row << " column " << column;
    }
  }
}

TEST(Toolchain, ThreadPoolVisitsEveryIndexOnce) {
  constexpr size_t kCount = 1000;
  std::vector<std::atomic<int>> visits(kCount);
  pthreadpool_t pool = pthreadpool_create(2);
  pthreadpool_parallelize_1d(
      pool, [](void* context, size_t i) { ++(*static_cast<std::vector<std::atomic<int>>*>(context))[i]; }, &visits,
      kCount, 0);
  pthreadpool_destroy(pool);
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(visits[i], 1) << "index " << i;
}

}  // namespace
}  // namespace peruse
