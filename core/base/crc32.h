// The checksum of zip files: CRC-32 as in ISO 3309, polynomial 0x04C11DB7.
#pragma once

#include <cstdint>
#include <span>

namespace peruse {

// Returns the checksum of earlier bytes, whose checksum is `crc` (0 at the start), followed by `bytes`.
uint32_t Crc32(uint32_t crc, std::span<const uint8_t> bytes);

}  // namespace peruse
