// Any bytes, in chunks of any size: the safetensors parser must not crash.
#include <cstddef>
#include <cstdint>

#include "core/weights/safetensors.h"
#include "tests/fuzz/weights_checks.h"

// The first byte selects the chunk size; 0 means one chunk.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> file(data + 1, size - 1);
  peruse::CheckWeights<peruse::SafetensorsParser>(file, data[0] == 0 ? file.size() + 1 : data[0]);
  return 0;
}
