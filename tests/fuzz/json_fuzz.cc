// Any bytes as JSON give an error, or a tree that is equal after writing and parsing it again.
#include <cstddef>
#include <cstdint>

#include "core/base/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto first = peruse::JsonDocument::Parse({reinterpret_cast<const char*>(data), size});
  if (!first.ok()) {
    PERUSE_CHECK(!first.status().message().empty());
    return 0;
  }
  const std::string text = first->root().ToString();
  const auto second = peruse::JsonDocument::Parse(text);
  PERUSE_CHECK(second.ok());
  PERUSE_CHECK(second->root().ToString() == text);
  return 0;
}
