// Every weight passes here while it is loaded: made for speed, and the compiler makes vector code of the loops.
#include "core/formats/quantize.h"

namespace peruse {

uint32_t LargestMagnitude(std::span<const float> values) {
  uint32_t largest = 0;
  for (const float value : values) largest = std::max(largest, std::bit_cast<uint32_t>(value) & 0x7FFFFFFFu);
  return largest;
}

template float QuantizeRow(std::span<const float> values, int32_t levels, int8_t* out);

}  // namespace peruse
