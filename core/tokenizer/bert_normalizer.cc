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
  // Every step looks at one character, but for the ordering of marks, which ASCII characters stop: so runs of ASCII and
  // runs of other characters can be done one by one.
  scratch->Clear();
  scratch->Reserve(text->size() + text->size() / 4);
  AlignedText run, run_scratch;
  for (size_t i = 0; i < text->size();) {
    if (static_cast<unsigned char>(text->text[i]) < 0x80) {
      const int c = MapAscii(static_cast<unsigned char>(text->text[i]));
      if (c >= 0) scratch->Append(static_cast<char32_t>(c), text->origins[i]);
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < text->size() && static_cast<unsigned char>(text->text[end]) >= 0x80) ++end;
    const size_t before = scratch->size();
    if (!AppendRun(*text, i, end, scratch)) {
      scratch->text.resize(before);
      scratch->origins.resize(before);
      run.Clear();
      run.Append(*text, i, end);
      NormalizeStepwise(&run, &run_scratch);
      scratch->Append(run, 0, run.size());
    }
    i = end;
  }
  std::swap(*text, *scratch);
}

void BertNormalizer::NormalizeStepwise(AlignedText* text, AlignedText* scratch) const {
  if (options_.clean_text) Clean(text, scratch);
  if (options_.handle_chinese_chars) IsolateCjk(text, scratch);
  if (StripsAccents()) {
    UnicodeNormalizer(UnicodeForm::kNfd).Normalize(text, scratch);
    RemoveNonspacingMarks(text, scratch);
  }
  if (options_.lowercase) LowercaseNormalizer().Normalize(text, scratch);
}

// All steps at once. As long as no marks change places, everything a character becomes has the character's own origin.
bool BertNormalizer::AppendRun(const AlignedText& text, size_t begin, size_t end, AlignedText* out) const {
  const bool strips = StripsAccents();
  uint8_t previous_class = 0;
  char32_t parts[kMaxDecomposition];
  for (size_t position = begin; position < end;) {
    const Offset origin = text.origins[position];
    const char32_t c = DecodeUtf8(text.text, &position);
    if (options_.clean_text) {
      const uint8_t classes = CharClasses(c);
      if (classes & kControlClass) continue;
      if (classes & kSpaceClass) {
        out->Append(U' ', origin);
        previous_class = 0;
        continue;
      }
    }
    const bool isolate = options_.handle_chinese_chars && IsBertCjk(c);
    if (isolate) out->Append(U' ', origin);
    int count = 1;
    parts[0] = c;
    if (strips) count = Decompose(c, false, parts);
    for (int i = 0; i < count; ++i) {
      if (strips) {
        const uint8_t combining_class = CombiningClass(parts[i]);
        if (combining_class != 0 && combining_class < previous_class) return false;
        previous_class = combining_class;
        if (CharClasses(parts[i]) & kNonspacingClass) continue;
      }
      if (!options_.lowercase) {
        out->Append(parts[i], origin);
        continue;
      }
      const LowerCase lower = ToLower(parts[i]);
      out->Append(lower.first, origin);
      if (lower.second != 0) out->Append(lower.second, origin);
    }
    if (isolate) {
      out->Append(U' ', origin);
      previous_class = 0;
    }
  }
  return true;
}

int BertNormalizer::MapAscii(unsigned char c) const {
  if (options_.clean_text && (c < 0x20 || c == 0x7F)) return c == '\t' || c == '\n' || c == '\r' ? ' ' : -1;
  return options_.lowercase && c >= 'A' && c <= 'Z' ? c + 0x20 : c;
}

void BertNormalizer::NormalizeAscii(AlignedText* text) const {
  size_t kept = 0;
  for (size_t i = 0; i < text->size(); ++i) {
    const int c = MapAscii(static_cast<unsigned char>(text->text[i]));
    if (c < 0) continue;
    text->text[kept] = static_cast<char>(c);
    text->origins[kept++] = text->origins[i];
  }
  text->text.resize(kept);
  text->origins.resize(kept);
}

}  // namespace peruse
