#include "core/text/pre_tokenizers/byte_level.h"

#include <array>

#include "core/base/utf8.h"

namespace peruse::text {
namespace {

constexpr std::array<uint16_t, 256> MakeStandIns() {
  std::array<uint16_t, 256> table{};
  uint16_t next = 0x100;
  for (uint16_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    table[byte] = printable ? byte : next++;
  }
  return table;
}

constexpr std::array<uint16_t, 256> kStandIns = MakeStandIns();

int ByteOf(char32_t c) {
  if (c < 256 && kStandIns[c] == c) return static_cast<int>(c);
  for (int byte = 0; byte < 256; ++byte) {
    if (kStandIns[static_cast<size_t>(byte)] == c) return byte;
  }
  return -1;
}

}  // namespace

char32_t StandIn(unsigned char byte) { return kStandIns[byte]; }

bool AppendStandInBytes(std::string_view token, std::string* bytes) {
  const size_t before = bytes->size();
  for (size_t position = 0; position < token.size();) {
    const int byte = ByteOf(DecodeUtf8(token, &position));
    if (byte < 0) {
      bytes->resize(before);
      return false;
    }
    bytes->push_back(static_cast<char>(byte));
  }
  return true;
}

}  // namespace peruse::text
