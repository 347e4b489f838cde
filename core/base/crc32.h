// The checksum of zip files: CRC-32 as in ISO 3309, polynomial 0x04C11DB7.
#pragma once

#include <cstdint>
#include <span>

namespace peruse {

// The checksum of what `crc` is the checksum of, followed by `bytes`. 0: of nothing.
uint32_t Crc32(uint32_t crc, std::span<const uint8_t> bytes);

}  // namespace peruse
