#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"

namespace peruse::testing {

struct BackendUnderTest {
  std::string name;
  std::function<std::unique_ptr<Backend>()> create;
  bool mixes_experts = true;  // otherwise it refuses mixtures of experts, and attention sinks, by name

  // Whether it runs the golden case of this name.
  bool Runs(std::string_view golden) const { return mixes_experts || !IsMixture(golden); }
  static bool IsMixture(std::string_view golden) {
    return golden.starts_with("nomic-bert-expert") || golden.starts_with("privacy-filter");
  }
};

// The backends of this program: reference and cpu (backends.cc), or webgpu (tests/node/gpu/backends.cc).
std::vector<BackendUnderTest> BackendsUnderTest();

}  // namespace peruse::testing
