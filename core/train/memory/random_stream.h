#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace peruse::train {

inline constexpr uint32_t kPhiloxFactors[] = {0xD2511F53u, 0xCD9E8D57u};
inline constexpr uint32_t kPhiloxKeySteps[] = {0x9E3779B9u, 0xBB67AE85u};

// Philox 4x32-10, a counter-based generator (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011).
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

inline std::array<uint32_t, 2> PhiloxKey(uint64_t seed) {
  return {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
}

// Purposes of random numbers, and the numbers that identify a draw. All counters differ, also from those of dropout, which are
// {column / 4 + part 2^20, row, operation, step}.
enum class Purpose : uint32_t {
  kPerturbation = 0xFFFFFFF9u,    // element, draw
  kContrast = 0xFFFFFFFAu,        // example or label, update
  kFolds = 0xFFFFFFFBu,           // example
  kReplacedTokens = 0xFFFFFFFCu,  // row, first text, step
  kMaskedTokens = 0xFFFFFFFDu,    // element, text, draw
  kOrder = 0xFFFFFFFEu,           // example, epoch
  kTensor = 0xFFFFFFFFu,          // element, tensor
};

// Random numbers as a function of a seed, a purpose and the numbers that identify a draw.
class RandomStream {
 public:
  using Words = std::array<uint32_t, 4>;

  RandomStream(uint64_t seed, Purpose purpose) : key_(PhiloxKey(seed)), purpose_(static_cast<uint32_t>(purpose)) {}

  Words At(size_t a, size_t b) const { return Philox({Word(a), Word(b), purpose_, 0}, key_); }
  Words At(size_t a, size_t b, size_t c) const { return Philox({Word(a), Word(b), Word(c), purpose_}, key_); }

  template <typename Item>
  void Shuffle(std::span<Item> items, size_t draw) const {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[At(i, draw)[0] % i]);
  }

  // Converts a word to a number in [0, 1).
  static double Unit(uint32_t word) { return word / 4294967296.0; }
  // Converts a word to a number in (0, 1).
  static double OpenUnit(uint32_t word) { return (word + 0.5) / 4294967296.0; }
  // Converts words to a normally distributed number (Box-Muller transform).
  static double Normal(const Words& words);

 private:
  static uint32_t Word(size_t value) { return static_cast<uint32_t>(value); }

  const std::array<uint32_t, 2> key_;
  const uint32_t purpose_;
};

}  // namespace peruse::train
