#include "tests/native/models/backends.h"

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/reference/reference_backend.h"

namespace peruse::testing {

std::vector<BackendUnderTest> BackendsUnderTest() {
  return {
      {"reference", [] { return CreateReferenceBackend(); }},
      {"cpu", [] { return CreateCpuBackend(1).value(); }},
  };
}

}  // namespace peruse::testing
