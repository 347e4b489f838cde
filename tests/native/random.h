#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace peruse::testing {

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  // Uniform in [least, most]. uniform_int_distribution would differ between libraries.
  int32_t Int(int32_t least, int32_t most) {
    return least + static_cast<int32_t>(engine_() % static_cast<uint32_t>(most - least + 1));
  }
  bool Chance(int32_t percent) { return Int(1, 100) <= percent; }
  float Float() { return static_cast<float>(engine_()) / 2147483648.0f - 1; }  // [-1, 1]
  template <typename T, size_t N>
  const T& Pick(const T (&items)[N]) {
    return items[static_cast<size_t>(Int(0, N - 1))];
  }

 private:
  std::mt19937 engine_;
};

}  // namespace peruse::testing
