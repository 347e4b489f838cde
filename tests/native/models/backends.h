#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/backend.h"

namespace peruse::testing {

struct BackendUnderTest {
  std::string name;
  std::function<std::unique_ptr<Backend>()> create;
  bool mixes_experts = true;  // otherwise it refuses mixtures of experts by name
};

// The backends of this program: reference and cpu (backends.cc), or webgpu (tests/node/gpu/backends.cc).
std::vector<BackendUnderTest> BackendsUnderTest();

}  // namespace peruse::testing
