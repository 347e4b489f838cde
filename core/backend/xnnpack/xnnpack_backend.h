// The CPU backend: XNNPACK's GEMM microkernels and our own SIMD kernels, run at once on a pool of threads.
#pragma once

#include <cstdint>
#include <memory>

#include "core/backend/backend.h"

namespace peruse {

// `threads` counts the calling thread. Fails if the build has no threads and more than one is asked for, or if they
// cannot be started.
Result<std::unique_ptr<Backend>> CreateXnnpackBackend(int32_t threads);

}  // namespace peruse
