#include "core/tokenizer/bert_normalizer.h"

#include "core/tokenizer/unicode.h"
#include "core/tokenizer/unicode_normalizer.h"

namespace peruse {
namespace {

bool IsRemovedByCleaning(char32_t c) { return CharClasses(c) & kControlClass; }

// Runs `step(editor, c)` for each character c of `text`; each step consumes one character.
template <typename Step>
void Rewrite(AlignedText* text, AlignedText* scratch, const Step& step) {
  scratch->Clear();
  AlignedEditor editor(*text, 0, text->size(), scratch);
  for (size_t position = 0; position < text->size();) step(&editor, DecodeUtf8(text->text, &position));
  std::swap(*text, *scratch);
}

void Clean(AlignedText* text, AlignedText* scratch) {
  Rewrite(text, scratch, [](AlignedEditor* editor, char32_t c) {
    if (IsRemovedByCleaning(c)) return editor->Drop(1);
    editor->Replace(IsSpace(c) ? U' ' : c);
  });
}

void IsolateCjk(AlignedText* text, AlignedText* scratch) {
  Rewrite(text, scratch, [](AlignedEditor* editor, char32_t c) {
    if (!IsBertCjk(c)) return editor->Replace(c);
    editor->Replace(U' ');
    editor->Insert(c);
    editor->Insert(U' ');
  });
}

void RemoveNonspacingMarks(AlignedText* text, AlignedText* scratch) {
  Rewrite(text, scratch, [](AlignedEditor* editor, char32_t c) {
    if (CharClasses(c) & kNonspacingClass) return editor->Drop(1);
    editor->Replace(c);
  });
}

}  // namespace

void BertNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  if (IsAscii(text->text)) return NormalizeAscii(text);
  if (options_.clean_text) Clean(text, scratch);
  if (options_.handle_chinese_chars) IsolateCjk(text, scratch);
  if (options_.strip_accents.value_or(options_.lowercase)) {
    UnicodeNormalizer(UnicodeForm::kNfd).Normalize(text, scratch);
    RemoveNonspacingMarks(text, scratch);
  }
  if (options_.lowercase) LowercaseNormalizer().Normalize(text, scratch);
}

void BertNormalizer::NormalizeAscii(AlignedText* text) const {
  size_t kept = 0;
  for (size_t i = 0; i < text->size(); ++i) {
    auto c = static_cast<unsigned char>(text->text[i]);
    if (options_.clean_text && (c < 0x20 || c == 0x7F)) {
      if (c != '\t' && c != '\n' && c != '\r') continue;
      c = ' ';
    }
    if (options_.lowercase && c >= 'A' && c <= 'Z') c += 0x20;
    text->text[kept] = static_cast<char>(c);
    text->origins[kept++] = text->origins[i];
  }
  text->text.resize(kept);
  text->origins.resize(kept);
}

}  // namespace peruse
