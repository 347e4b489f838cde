# The XNNPACK microkernels that core/cpu calls. Loops, packing and threads are our own. To use another kernel, add its file to
# the list of its instruction set.

# wasm SIMD128, without multiply-add. Excludes kernels that clamp (minmax), because they turn NaN into infinity. loadsplat suits x86, splat
# suits ARM.
set(peruse_kernels_simd
  f32-gemm/gen/f32-gemm-1x8-wasmsimd-loadsplat.c
  f32-gemm/gen/f32-gemm-4x8-wasmsimd-loadsplat.c
  f32-gemm/gen/f32-gemm-1x8-wasmsimd-splat.c
  f32-gemm/gen/f32-gemm-6x8-wasmsimd-splat.c
)

set(peruse_kernels_relaxed
  f32-gemm/gen/f32-gemm-1x8-wasmrelaxedsimd-fma-loadsplat.c
  f32-gemm/gen/f32-gemm-4x8-wasmrelaxedsimd-fma-loadsplat.c
  f32-gemm/gen/f32-gemm-1x8-wasmrelaxedsimd-fma-splat.c
  f32-gemm/gen/f32-gemm-6x8-wasmrelaxedsimd-fma-splat.c
)

set(peruse_kernels_x86
  f32-gemm/gen/f32-gemm-1x16-minmax-fma3-broadcast.c
  f32-gemm/gen/f32-gemm-5x16-minmax-fma3-broadcast.c
)

set(peruse_kernels_arm64
  f32-gemm/gen/f32-gemm-1x16-minmax-aarch64-neonfma-lane-ld128.c
  f32-gemm/gen/f32-gemm-5x16-minmax-aarch64-neonfma-lane-ld128.c
)

if(EMSCRIPTEN AND PERUSE_RELAXED)
  set(peruse_kernels ${peruse_kernels_relaxed})
elseif(EMSCRIPTEN)
  set(peruse_kernels ${peruse_kernels_simd})
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(peruse_kernels ${peruse_kernels_x86})
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(peruse_kernels ${peruse_kernels_arm64})
else()
  message(FATAL_ERROR "no XNNPACK kernels are chosen for ${CMAKE_SYSTEM_PROCESSOR}")
endif()
list(TRANSFORM peruse_kernels PREPEND "${PERUSE_SOURCE_XNNPACK}/src/")

peruse_vector_code(${peruse_kernels})
add_library(peruse_xnnpack STATIC ${peruse_kernels})
target_include_directories(peruse_xnnpack SYSTEM PUBLIC
  "${PERUSE_SOURCE_XNNPACK}/include" "${PERUSE_SOURCE_XNNPACK}/src" "${PERUSE_SOURCE_FP16}/include")
target_compile_options(peruse_xnnpack PRIVATE -w)
target_link_libraries(peruse_xnnpack PUBLIC peruse_pthreadpool)
if(PERUSE_SANITIZE)
  target_compile_options(peruse_xnnpack PRIVATE -fno-sanitize=undefined)  # its pointers step past the last row by design
endif()
