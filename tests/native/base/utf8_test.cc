#include "core/base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace peruse {
namespace {

TEST(Utf8, EncodesAndDecodesEveryScalarValue) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    AppendUtf8(c, &text);
    ASSERT_TRUE(IsValidUtf8(text)) << static_cast<uint32_t>(c);
    ASSERT_EQ(text.size(), static_cast<size_t>(Utf8LengthOf(c)));
    ASSERT_EQ(text.size(), static_cast<size_t>(Utf8Length(static_cast<unsigned char>(text[0]))));
    size_t position = 0;
    ASSERT_TRUE(DecodeUtf8(text, &position) == c);
    ASSERT_EQ(position, text.size());
    ASSERT_TRUE(DecodeUtf8Backwards(text, &position) == c);
    ASSERT_EQ(position, 0u);
  }
}

TEST(Utf8, FindsIllFormedParts) {
  EXPECT_EQ(ValidUtf8Prefix("abc\x80"), 3u);
  EXPECT_EQ(ValidUtf8Prefix("abcdefghijk\xC3"), 11u);
  EXPECT_FALSE(IsValidUtf8("\xC0\x80"));          // overlong
  EXPECT_FALSE(IsValidUtf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80"));  // beyond U+10FFFF
  EXPECT_TRUE(IsValidUtf8(""));
}

// Unicode 15, table 3-8.
TEST(Utf8, ReplacesMaximalSubparts) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(ReplaceInvalidUtf8("a\xF1\x80\x80\xE1\x80\xC2"
                               "b\x80"
                               "c\x80\xBF"
                               "d"),
            "a" + r + r + r + "b" + r + "c" + r + r + "d");
  EXPECT_EQ(ReplaceInvalidUtf8("\xED\xA0\x80"), r + r + r);
  EXPECT_EQ(ReplaceInvalidUtf8("ok\xC3\xA9"), "ok\xC3\xA9");
}

TEST(Utf8IndexConverter, AgreesWithCountingInAnyOrder) {
  const std::string text = "a\xC3\xA9\xF0\x9F\x98\x80\xE2\x96\x81z\xF0\x9F\x98\x80";
  std::vector<size_t> utf16;  // by byte
  size_t u = 0;
  for (size_t byte = 0; byte <= text.size();) {
    const size_t length =
        byte < text.size() ? static_cast<size_t>(Utf8Length(static_cast<unsigned char>(text[byte]))) : 1;
    utf16.insert(utf16.end(), length, u);
    u += length == 4 ? 2 : 1;
    byte += length;
  }
  Utf8IndexConverter converter(text);
  for (size_t step : {1u, 3u, 5u, 7u}) {
    for (size_t i = 0; i < 100; ++i) {
      const size_t byte = i * step % (text.size() + 1);
      ASSERT_EQ(converter.ToUtf16(byte), utf16[byte]) << byte;
      if (byte == text.size() || !IsUtf8Continuation(text[byte])) {
        ASSERT_EQ(converter.Utf16ToByte(utf16[byte]), byte);
      }
    }
  }
  EXPECT_EQ(converter.Utf16ToByte(3), 3u);
  EXPECT_EQ(converter.Utf16ToByte(100), text.size());
  EXPECT_EQ(Utf8IndexConverter("abc").ToUtf16(3), 3u);
}

}  // namespace
}  // namespace peruse
