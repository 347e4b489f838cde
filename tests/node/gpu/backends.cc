#include "tests/native/models/backends.h"

#include "tests/node/gpu/hosted_backend.h"

namespace peruse::testing {

std::vector<BackendUnderTest> BackendsUnderTest() {
  return {{"webgpu", [] { return CreateHostedWebGpuBackend(); }, /*mixes_experts=*/false}};
}

}  // namespace peruse::testing
