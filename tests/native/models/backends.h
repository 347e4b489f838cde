#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/reference/reference_backend.h"
#include "core/backend/xnnpack/xnnpack_backend.h"
#if defined(PERUSE_GPU_TESTS)
#include "tests/node/gpu/hosted_backend.h"
#endif

namespace peruse::testing {

struct BackendUnderTest {
  std::string name;
  std::function<std::unique_ptr<Backend>()> create;
};

inline std::vector<BackendUnderTest> BackendsUnderTest() {
#if defined(PERUSE_GPU_TESTS)
  return {{"webgpu", [] { return CreateHostedWebGpuBackend(); }}};
#endif
  return {
      {"reference", [] { return CreateReferenceBackend(); }},
      {"xnnpack", [] { return CreateXnnpackBackend(1).value(); }},
  };
}

}  // namespace peruse::testing
