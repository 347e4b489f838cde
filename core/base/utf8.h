#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace peruse {

constexpr char32_t kReplacementCharacter = 0xFFFD;

inline int Utf8Length(unsigned char lead) {  // for valid UTF-8
  if (lead < 0x80) return 1;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

inline int Utf8LengthOf(char32_t c) {
  if (c < 0x80) return 1;
  if (c < 0x800) return 2;
  return c < 0x10000 ? 3 : 4;
}

inline bool IsUtf8Continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Returns the character at `*position` of valid UTF-8 and advances `*position` past it.
inline char32_t DecodeUtf8(std::string_view text, size_t* position) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data()) + *position;
  const char32_t lead = p[0];
  if (lead < 0x80) {
    *position += 1;
    return lead;
  }
  if (lead < 0xE0) {
    *position += 2;
    return (lead & 0x1F) << 6 | (p[1] & 0x3F);
  }
  if (lead < 0xF0) {
    *position += 3;
    return (lead & 0x0F) << 12 | static_cast<char32_t>(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
  }
  *position += 4;
  return (lead & 0x07) << 18 | static_cast<char32_t>(p[1] & 0x3F) << 12 | static_cast<char32_t>(p[2] & 0x3F) << 6 |
         (p[3] & 0x3F);
}

// Returns the character before `*position`, which must be above 0, of valid UTF-8.
char32_t DecodeUtf8Backwards(std::string_view text, size_t* position);

void AppendUtf8(char32_t c, std::string* out);

// Returns the length of the longest valid prefix. Surrogates and overlong forms are invalid.
size_t ValidUtf8Prefix(std::string_view text);
inline bool IsValidUtf8(std::string_view text) { return ValidUtf8Prefix(text) == text.size(); }
bool IsAscii(std::string_view text);

// Returns a copy in which U+FFFD replaces each maximal ill-formed part (Unicode chapter 3.9), as TextDecoder does.
std::string ReplaceInvalidUtf8(std::string_view text);

std::string Excerpt(std::string_view text);  // about the first 100 bytes
size_t CountCodePoints(std::string_view text);

// Converts byte indices of a valid UTF-8 text to UTF-16 indices, and back. Walks from the previous index, so that roughly increasing
// indices take linear time in total.
class Utf8IndexConverter {
 public:
  explicit Utf8IndexConverter(std::string_view text);  // keeps a view of `text`

  // Precondition: byte <= text.size(). A byte inside a character counts as the start of the character.
  size_t ToUtf16(size_t byte);
  // Converts a UTF-16 index to a byte index. Beyond the end it returns text.size(), inside a surrogate pair the start of the pair.
  size_t Utf16ToByte(size_t utf16);

 private:
  void MoveTo(size_t byte);
  void Forward();
  void Backward();
  void Rewind();

  std::string_view text_;
  bool ascii_;
  size_t byte_ = 0;
  size_t utf16_ = 0;
};

}  // namespace peruse
