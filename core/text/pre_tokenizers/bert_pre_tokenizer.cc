#include "core/text/pre_tokenizers/bert_pre_tokenizer.h"

#include "core/text/unicode/unicode.h"

namespace peruse::text {

bool BertPreTokenizer::PreTokenize(PieceList* list, PieceList* scratch) const {
  scratch->pieces.clear();
  std::swap(list->pieces, scratch->pieces);
  if (!TryReserve(&list->pieces, list->text.size() / 4)) return false;
  const std::string_view text = list->text.text;
  for (const Piece& piece : scratch->pieces) {
    if (piece.token_id >= 0) {
      list->Add(piece.begin, piece.end, piece.token_id);
      continue;
    }
    size_t word = piece.begin;
    for (size_t position = piece.begin; position < piece.end;) {
      const auto byte = static_cast<unsigned char>(text[position]);
      if (byte < 0x80 && !(kAsciiClassTable.classes[byte] & (kSpaceClass | kPunctuationClass))) {
        ++position;
        continue;
      }
      const size_t at = position;
      const uint8_t classes = CharClasses(DecodeUtf8(text, &position));
      if (!(classes & (kSpaceClass | kPunctuationClass))) continue;
      list->Add(word, at);
      if (classes & kPunctuationClass) list->Add(at, position);
      word = position;
    }
    list->Add(word, piece.end);
  }
  return !list->text.failed();
}

}  // namespace peruse::text
