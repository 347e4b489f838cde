#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace peruse::text {

// Returns the printable character that represents a byte in byte-level BPE (GPT-2): itself if printable, otherwise one from U+0100 on.
char32_t StandIn(unsigned char byte);

// Appends the bytes that the characters of `token` represent. Appends nothing and returns false if a character does not represent a byte.
bool AppendStandInBytes(std::string_view token, std::string* bytes);

}  // namespace peruse::text
