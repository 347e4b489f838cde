// The CPU backend: XNNPACK's GEMM microkernels and our own SIMD kernels, on a pool of threads.
#pragma once

#include <cstdint>
#include <memory>

#include "core/backend/backend.h"

namespace peruse {

// `threads` counts the calling thread. Errors: kUnsupported for several threads in a build without threads; also if threads cannot start.
Result<std::unique_ptr<Backend>> CreateXnnpackBackend(int32_t threads);

}  // namespace peruse
