// The byte table of byte-level BPE (GPT-2), which represents every byte by a printable character.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace peruse::text {

// The character of a byte: the byte itself if printable, otherwise one from U+0100 on.
char32_t StandIn(unsigned char byte);

// Appends the bytes that the characters of `token` represent; returns false, with nothing appended, if a character represents none.
bool AppendStandInBytes(std::string_view token, std::string* bytes);

}  // namespace peruse::text
