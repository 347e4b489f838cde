// Writes spaces as a visible character and splits before each of them, as SentencePiece does.
#pragma once

#include "core/text/pre_tokenizers/pre_tokenizer.h"

namespace peruse::text {

// Which pieces get the visible character at their start.
enum class PrependScheme : uint8_t { kAlways, kFirst, kNever };

class Metaspace final : public PreTokenizer {
 public:
  Metaspace(char32_t replacement, PrependScheme prepend, bool split)
      : replacement_(replacement), prepend_(prepend), split_(split) {
    AppendUtf8(replacement, &bytes_);
  }
  [[nodiscard]] bool PreTokenize(PieceList* list, PieceList* scratch) const override;

 private:
  void Rewrite(const AlignedText& from, size_t begin, size_t end, AlignedText* to) const;
  void AddPieces(size_t begin, PieceList* list) const;

  char32_t replacement_;
  std::string bytes_;  // the replacement as UTF-8
  PrependScheme prepend_;
  bool split_;
};

}  // namespace peruse::text
