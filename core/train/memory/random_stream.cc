#include "core/train/memory/random_stream.h"

#include <cmath>

namespace peruse::train {

std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{kPhiloxFactors[0]} * counter[0];
    const uint64_t second = uint64_t{kPhiloxFactors[1]} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
    key[0] += kPhiloxKeySteps[0];
    key[1] += kPhiloxKeySteps[1];
  }
  return counter;
}

double RandomStream::Normal(const Words& words) {
  return std::sqrt(-2 * std::log(OpenUnit(words[0]))) * std::cos(2 * M_PI * OpenUnit(words[1]));
}

}  // namespace peruse::train
