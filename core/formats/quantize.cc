// Loading a model passes every weight through these loops, so they are written for vectorization.
#include "core/formats/quantize.h"

namespace peruse {

uint32_t LargestMagnitude(std::span<const float> values) {
  uint32_t largest = 0;
  for (const float value : values) largest = std::max(largest, std::bit_cast<uint32_t>(value) & 0x7FFFFFFFu);
  return largest;
}

template float QuantizeRow(std::span<const float> values, int32_t levels, int8_t* out);

}  // namespace peruse
