#include "core/base/utf8.h"

#include <cstring>

namespace peruse {
namespace {

// Returns the length of the well-formed character at `p`, or 0 and sets `*ill_formed` to the number of bytes that one U+FFFD replaces
// (Unicode 15, tables 3-7 and 3-8).
size_t WellFormedLength(const unsigned char* p, size_t available, size_t* ill_formed) {
  const unsigned char lead = p[0];
  *ill_formed = 1;
  if (lead < 0x80) return 1;
  size_t length = 0;
  unsigned char low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if (i >= available || p[i] < low || p[i] > high) {
      *ill_formed = i;
      return 0;
    }
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

size_t AsciiPrefix(const char* data, size_t size) {
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, 8);
    if (word & 0x8080808080808080u) break;
  }
  while (i < size && static_cast<unsigned char>(data[i]) < 0x80) ++i;
  return i;
}

}  // namespace

char32_t DecodeUtf8Backwards(std::string_view text, size_t* position) {
  size_t start = *position - 1;
  while (start > 0 && IsUtf8Continuation(text[start])) --start;
  *position = start;
  size_t end = start;
  return DecodeUtf8(text, &end);
}

void AppendUtf8(char32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    const char bytes[] = {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    out->append(bytes, 2);
  } else if (c < 0x10000) {
    const char bytes[] = {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
                          static_cast<char>(0x80 | (c & 0x3F))};
    out->append(bytes, 3);
  } else {
    const char bytes[] = {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 0x3F)),
                          static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
    out->append(bytes, 4);
  }
}

size_t ValidUtf8Prefix(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  size_t i = 0;
  while (true) {
    i += AsciiPrefix(text.data() + i, text.size() - i);
    if (i == text.size()) return i;
    size_t ill_formed = 0;
    const size_t length = WellFormedLength(p + i, text.size() - i, &ill_formed);
    if (length == 0) return i;
    i += length;
  }
}

bool IsAscii(std::string_view text) { return AsciiPrefix(text.data(), text.size()) == text.size(); }

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  size_t i = 0;
  while (i < text.size()) {
    const size_t valid = ValidUtf8Prefix(text.substr(i));
    out.append(text.substr(i, valid));
    i += valid;
    if (i == text.size()) break;
    size_t ill_formed = 0;
    WellFormedLength(reinterpret_cast<const unsigned char*>(text.data()) + i, text.size() - i, &ill_formed);
    AppendUtf8(kReplacementCharacter, &out);
    i += ill_formed;
  }
  return out;
}

std::string Excerpt(std::string_view text) {
  constexpr size_t kLongest = 100;
  if (text.size() <= kLongest) return std::string(text);
  size_t end = kLongest;
  while (end > 0 && IsUtf8Continuation(text[end])) --end;
  return std::string(text.substr(0, end)) + "...";
}

size_t CountCodePoints(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += !IsUtf8Continuation(byte);
  return count;
}

Utf8IndexConverter::Utf8IndexConverter(std::string_view text) : text_(text), ascii_(IsAscii(text)) {}

void Utf8IndexConverter::Forward() {
  const int length = Utf8Length(static_cast<unsigned char>(text_[byte_]));
  byte_ += static_cast<size_t>(length);
  utf16_ += length == 4 ? 2 : 1;
}

void Utf8IndexConverter::Backward() {
  const size_t end = byte_;
  do {
    --byte_;
  } while (byte_ > 0 && IsUtf8Continuation(text_[byte_]));
  utf16_ -= end - byte_ == 4 ? 2 : 1;
}

void Utf8IndexConverter::Rewind() { byte_ = utf16_ = 0; }

void Utf8IndexConverter::MoveTo(size_t byte) {
  if (byte > text_.size()) byte = text_.size();
  if (byte < byte_ / 2) Rewind();
  while (byte_ < byte && byte_ + static_cast<size_t>(Utf8Length(static_cast<unsigned char>(text_[byte_]))) <= byte)
    Forward();
  while (byte_ > byte) Backward();
}

size_t Utf8IndexConverter::ToUtf16(size_t byte) {
  if (ascii_) return byte < text_.size() ? byte : text_.size();
  if (byte == 0) return 0;
  MoveTo(byte);
  return utf16_;
}

size_t Utf8IndexConverter::Utf16ToByte(size_t utf16) {
  if (ascii_) return utf16 < text_.size() ? utf16 : text_.size();
  if (utf16 < utf16_ / 2) Rewind();
  while (utf16_ < utf16 && byte_ < text_.size()) Forward();
  while (utf16_ > utf16) Backward();
  return byte_;
}

}  // namespace peruse
