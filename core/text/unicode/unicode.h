// Character classes and mappings of the tokenizers library, which mixes Unicode versions: about Unicode 8 for punctuation, control
// characters and nonspacing marks (later punctuation such as U+2E43 does not count), Unicode 13 for normalisation, later versions for white
// space, case and regular expressions. tests/reference/make_unicode_tables.py obtains the classes from the library.
#pragma once

#include <cstdint>
#include <string_view>

namespace peruse::text {

enum CharClass : uint8_t {
  kSpaceClass = 1 << 0,        // White_Space
  kControlClass = 1 << 1,      // characters that BERT's text cleaning removes: Cc, Cf, Co, U+FFFD, but not TAB, LF, CR
  kPunctuationClass = 1 << 2,  // ASCII punctuation and general category P
  kNonspacingClass = 1 << 3,   // Mn
  kMarkClass = 1 << 4,         // M
  kLetterClass = 1 << 5,       // \p{L}
  kNumberClass = 1 << 6,       // \p{N}
  kWordClass = 1 << 7,         // \w
};

uint8_t LookUpCharClasses(char32_t c);

// LookUpCharClasses for ASCII, in the header so that plain text does not need a call.
constexpr uint8_t AsciiClasses(unsigned char c) {
  if (c == '\t' || c == '\n' || c == '\r' || c == ' ') return kSpaceClass;
  if (c == 0x0B || c == 0x0C) return kSpaceClass | kControlClass;
  if (c < 0x20 || c == 0x7F) return kControlClass;
  if (c >= '0' && c <= '9') return kNumberClass | kWordClass;
  if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return kLetterClass | kWordClass;
  return c == '_' ? kPunctuationClass | kWordClass : kPunctuationClass;
}
struct AsciiClassTable {
  uint8_t classes[128];
  constexpr AsciiClassTable() : classes() {
    for (unsigned char c = 0; c < 128; ++c) classes[c] = AsciiClasses(c);
  }
};
inline constexpr AsciiClassTable kAsciiClassTable;

inline uint8_t CharClasses(char32_t c) { return c < 128 ? kAsciiClassTable.classes[c] : LookUpCharClasses(c); }

inline bool IsSpace(char32_t c) { return CharClasses(c) & kSpaceClass; }
inline bool IsPunctuation(char32_t c) { return CharClasses(c) & kPunctuationClass; }

// Whether BERT surrounds the character with spaces. The sixth block begins at U+2B920 as in tokenizers (U+2B820 in Google's code).
inline bool IsBertCjk(char32_t c) {
  if (c < 0x3400) return false;
  return (c >= 0x4E00 && c <= 0x9FFF) || c <= 0x4DBF || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) ||
         (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

// Full lower-casing without context. Only U+0130 becomes two characters.
struct LowerCase {
  char32_t first;
  char32_t second;  // 0 if absent
};
LowerCase ToLower(char32_t c);

// Writes the full canonical or compatibility decomposition of a character and returns its length.
inline constexpr int kMaxDecomposition = 32;
int Decompose(char32_t c, bool compatibility, char32_t out[kMaxDecomposition]);
uint8_t CombiningClass(char32_t c);
char32_t Compose(char32_t first, char32_t second);

// Whether an extended grapheme cluster (UAX #29) ends between two neighbours. `state` is 0 at the start of a text.
bool IsGraphemeBreak(char32_t first, char32_t second, int32_t* state);

// General categories as in Oniguruma, the regular-expression library that tokenizers uses.
inline constexpr std::string_view kCategoryNames[] = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl",
                                                      "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc",
                                                      "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn", "Cs"};
inline constexpr size_t kCategories = 30;

uint8_t CategoryOf(char32_t c);

uint32_t CategoriesNamed(std::string_view name);

}  // namespace peruse::text
