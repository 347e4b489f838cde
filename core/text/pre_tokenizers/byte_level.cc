#include "core/text/pre_tokenizers/byte_level.h"

#include <array>

#include "core/base/utf8.h"
#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

constexpr std::array<uint16_t, 256> MakeStandIns() {
  std::array<uint16_t, 256> table{};
  uint16_t next = 0x100;
  for (uint16_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    table[byte] = printable ? byte : next++;
  }
  return table;
}

constexpr std::array<uint16_t, 256> kStandIns = MakeStandIns();

int ByteOf(char32_t c) {
  if (c < 256 && kStandIns[c] == c) return static_cast<int>(c);
  for (int byte = 0; byte < 256; ++byte) {
    if (kStandIns[static_cast<size_t>(byte)] == c) return byte;
  }
  return -1;
}

uint8_t Kind(char32_t c) { return CharClasses(c) & (kLetterClass | kNumberClass | kSpaceClass); }

size_t RunEnd(std::string_view text, size_t position, uint8_t kind) {
  while (position < text.size()) {
    size_t next = position;
    if (Kind(DecodeUtf8(text, &next)) != kind) break;
    position = next;
  }
  return position;
}

size_t ContractionLength(std::string_view text) {
  if (text.size() < 2 || text[0] != '\'') return 0;
  const char c = text[1];
  if (c == 's' || c == 't' || c == 'm' || c == 'd') return 2;
  if (text.size() < 3) return 0;
  const char d = text[2];
  return (c == 'r' && d == 'e') || (c == 'v' && d == 'e') || (c == 'l' && d == 'l') ? 3 : 0;
}

// Returns the end of the next match of 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+. It always matches.
size_t WordEnd(std::string_view text, size_t begin) {
  const size_t contraction = ContractionLength(text.substr(begin));
  if (contraction > 0) return begin + contraction;
  size_t next = begin;
  uint8_t kind = Kind(DecodeUtf8(text, &next));
  if (text[begin] == ' ' && next < text.size()) {
    size_t after = next;
    const uint8_t next_kind = Kind(DecodeUtf8(text, &after));
    if (next_kind != kSpaceClass) {
      kind = next_kind;
      next = after;
    }
  }
  const size_t end = RunEnd(text, next, kind);
  if (kind != kSpaceClass || end == text.size()) return end;
  // The last of several white-space characters before a word belongs to the word's match.
  size_t last = end;
  DecodeUtf8Backwards(text, &last);
  return last > begin ? last : end;
}

}  // namespace

char32_t StandIn(unsigned char byte) { return kStandIns[byte]; }

bool AppendStandInBytes(std::string_view token, std::string* bytes) {
  const size_t before = bytes->size();
  for (size_t position = 0; position < token.size();) {
    const int byte = ByteOf(DecodeUtf8(token, &position));
    if (byte < 0) {
      bytes->resize(before);
      return false;
    }
    bytes->push_back(static_cast<char>(byte));
  }
  return true;
}

bool ByteLevelPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  scratch->Clear();
  scratch->text.Grow(list->text.size() + list->text.size() / 4);  // usually enough for English
  AlignedText prefixed;
  for (const Piece& piece : list->pieces) {
    const size_t base = scratch->text.size();
    if (piece.token_id >= 0) {
      scratch->text.Append(list->text, piece.begin, piece.end);
      scratch->Add(base, scratch->text.size(), piece.token_id);
      continue;
    }
    const AlignedText* from = &list->text;
    size_t begin = piece.begin, end = piece.end;
    if (add_prefix_space_ && from->text[begin] != ' ') {
      prefixed.Clear();
      prefixed.Append(U' ', from->origins[begin]);
      prefixed.Append(*from, begin, end);
      if (prefixed.failed()) return false;
      from = &prefixed;
      begin = 0;
      end = prefixed.size();
    }
    const std::string_view text = std::string_view(from->text).substr(0, end);
    while (begin < end) {
      const size_t word_end = split_ ? WordEnd(text, begin) : end;
      const size_t word = scratch->text.size();
      for (; begin < word_end; ++begin) {
        scratch->text.Append(StandIn(static_cast<unsigned char>(text[begin])), from->origins[begin]);
      }
      scratch->Add(word, scratch->text.size());
    }
  }
  std::swap(*list, *scratch);
  return !list->text.failed();
}

}  // namespace peruse::text
