#include "tests/native/models/backends.h"

#include "core/backend/reference/reference_backend.h"
#include "core/backend/xnnpack/xnnpack_backend.h"

namespace peruse::testing {

std::vector<BackendUnderTest> BackendsUnderTest() {
  return {
      {"reference", [] { return CreateReferenceBackend(); }},
      {"xnnpack", [] { return CreateXnnpackBackend(1).value(); }},
  };
}

}  // namespace peruse::testing
