// The CPU backend: XNNPACK's GEMM microkernels and our own SIMD kernels, on a pool of threads.
#pragma once

#include <cstdint>
#include <memory>

#include "core/backend/backend.h"

namespace peruse {

// `threads` includes the calling thread. Errors: kUnsupported if threads cannot start, or if the build only has one.
Result<std::unique_ptr<Backend>> CreateCpuBackend(int32_t threads);

}  // namespace peruse
