// The byte table of byte-level BPE (GPT-2): every byte has a printable character that stands in for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace peruse::text {

// The stand-in of a byte: itself where printable, otherwise U+0100 and on.
char32_t StandIn(unsigned char byte);

// Appends the bytes that the characters of `token` stand for; false, with nothing appended, if one stands for none.
bool AppendStandInBytes(std::string_view token, std::string* bytes);

}  // namespace peruse::text
