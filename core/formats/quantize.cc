// Loading a model passes every weight through these loops, so they are written for vectorization.
#include "core/formats/quantize.h"

namespace peruse {

uint32_t LargestMagnitude(std::span<const float> values) {
  uint32_t largest = 0;
  for (const float value : values) largest = std::max(largest, std::bit_cast<uint32_t>(value) & 0x7FFFFFFFu);
  return largest;
}

Extremes ExtremesOf(std::span<const float> values) {
  // Among the bits of floats, the largest signed integer is the largest positive number, and the largest unsigned one the least negative.
  int32_t highest = 0;
  uint32_t lowest = 0;
  for (const float value : values) {
    highest = std::max(highest, std::bit_cast<int32_t>(value));
    lowest = std::max(lowest, std::bit_cast<uint32_t>(value));
  }
  return {lowest >> 31 == 0 ? 0 : std::bit_cast<float>(lowest), std::bit_cast<float>(highest)};
}

template float QuantizeBy(const RowScale& row, std::span<const float> values, int8_t* out);

}  // namespace peruse
