#pragma once

#include <cstdint>
#include <span>

namespace peruse {

// Returns the CRC-32 of zip files (ISO 3309, polynomial 0x04C11DB7) for earlier bytes, whose CRC is `crc` (0 at first), and then `bytes`.
uint32_t Crc32(uint32_t crc, std::span<const uint8_t> bytes);

}  // namespace peruse
