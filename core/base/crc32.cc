#include "core/base/crc32.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace peruse {
namespace {

constexpr size_t kSlices = 8;
// Entry [slice][byte] is the bit-reversed remainder of `byte` followed by `slice` zero bytes.
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

Tables MakeTables() {
  constexpr uint32_t kReversedPolynomial = 0xEDB88320;
  Tables tables;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
#pragma clang loop unroll(disable)
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? kReversedPolynomial : 0);
    tables[0][byte] = remainder;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
#pragma clang loop vectorize(disable) unroll(disable)
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t shorter = tables[slice - 1][byte];
      tables[slice][byte] = shorter >> 8 ^ tables[0][shorter & 0xFF];
    }
  }
  return tables;
}

}  // namespace

uint32_t Crc32(uint32_t crc, std::span<const uint8_t> bytes) {
  static_assert(std::endian::native == std::endian::little);
  static const Tables tables = MakeTables();
  crc = ~crc;
  for (; bytes.size() >= kSlices; bytes = bytes.subspan(kSlices)) {
    std::array<uint32_t, 2> words;
    std::memcpy(words.data(), bytes.data(), sizeof(words));
    words[0] ^= crc;
    crc = 0;
    for (size_t i = 0; i < 4; ++i) {
      crc ^= tables[7 - i][words[0] >> (8 * i) & 0xFF] ^ tables[3 - i][words[1] >> (8 * i) & 0xFF];
    }
  }
#pragma clang loop unroll(disable)
  for (const uint8_t byte : bytes) crc = crc >> 8 ^ tables[0][(crc ^ byte) & 0xFF];
  return ~crc;
}

}  // namespace peruse
