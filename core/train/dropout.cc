#include "core/train/dropout.h"

#include <algorithm>

namespace peruse::train {

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t second = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

void Dropout::Apply(uint32_t place, uint32_t row_number, float* row, int64_t count) const {
  const std::array<uint32_t, 2> key = {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  const auto below = static_cast<uint32_t>(rate * 4294967296.0);  // such words drop
  const float scale = 1 / (1 - rate);
  for (int64_t i = 0; i < count; i += 4) {
    const auto words = Philox({static_cast<uint32_t>(i / 4), row_number, place, step}, key);
    for (int64_t j = 0; j < std::min<int64_t>(4, count - i); ++j) {
      row[i + j] = words[static_cast<size_t>(j)] < below ? 0 : row[i + j] * scale;
    }
  }
}

}  // namespace peruse::train
