#include "core/text/normalizers/bert_normalizer.h"

#include "core/text/normalizers/unicode_normalizer.h"
#include "core/text/unicode/unicode.h"

namespace peruse::text {
namespace {

bool IsRemovedByCleaning(char32_t c) { return CharClasses(c) & kControlClass; }

// Calls `step(editor, c)` for each character c of `text`. A step consumes one character. Does not change a failed text.
template <typename Step>
void Rewrite(AlignedText* text, AlignedText* scratch, const Step& step) {
  scratch->Clear();
  scratch->failure = text->failure;
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

BertNormalizerOptions ParseBertOptions(JsonValue json) {
  BertNormalizerOptions options;
  options.clean_text = json.FindMember("clean_text").GetBool().value_or(true);
  options.handle_chinese_chars = json.FindMember("handle_chinese_chars").GetBool().value_or(true);
  options.strip_accents = json.FindMember("strip_accents").GetBool();
  options.lowercase = json.FindMember("lowercase").GetBool().value_or(true);
  return options;
}

bool BertNormalizer::Normalize(AlignedText* text, AlignedText* scratch) const {
  if (IsAscii(text->text)) {
    NormalizeAscii(text);
    return true;
  }
  // Processes runs of ASCII and of other characters separately: normalisation may reorder combining marks, but never across an ASCII
  // character.
  scratch->Clear();
  scratch->Grow(text->size());
  AlignedText run, run_scratch;
  for (size_t i = 0; i < text->size();) {
    size_t end = i;
    while (end < text->size() && static_cast<unsigned char>(text->text[end]) < 0x80) ++end;
    AppendAscii(*text, i, end, scratch);
    i = end;
    while (end < text->size() && static_cast<unsigned char>(text->text[end]) >= 0x80) ++end;
    const size_t before = scratch->size();
    if (!AppendRun(*text, i, end, scratch)) {
      scratch->Truncate(before);
      run.Clear();
      run.Append(*text, i, end);
      if (run.failed() || !NormalizeStepwise(&run, &run_scratch)) return false;
      scratch->Append(run, 0, run.size());
    }
    i = end;
  }
  std::swap(*text, *scratch);
  return !text->failed();
}

bool BertNormalizer::NormalizeStepwise(AlignedText* text, AlignedText* scratch) const {
  if (options_.clean_text) Clean(text, scratch);
  if (options_.handle_chinese_chars) IsolateCjk(text, scratch);
  if (StripsAccents()) {
    if (!UnicodeNormalizer(UnicodeForm::kNfd).Normalize(text, scratch)) return false;
    RemoveNonspacingMarks(text, scratch);
  }
  if (text->failed()) return false;
  return !options_.lowercase || LowercaseNormalizer().Normalize(text, scratch);
}

// Applies all steps to one character at a time. Every resulting character has the origin of its source. Returns false if marks must be
// reordered.
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

BertNormalizer::BertNormalizer(BertNormalizerOptions options) : options_(options) {
  for (int c = 0; c < 0x80; ++c) {
    const bool is_control = c < 0x20 || c == 0x7F;
    if (options_.clean_text && is_control)
      ascii_[c] = c == '\t' || c == '\n' || c == '\r' ? ' ' : kRemoved;
    else
      ascii_[c] = static_cast<unsigned char>(options_.lowercase && c >= 'A' && c <= 'Z' ? c + 0x20 : c);
  }
}

void BertNormalizer::AppendAscii(const AlignedText& text, size_t begin, size_t end, AlignedText* out) const {
  size_t kept = out->size();
  if (!out->Extend(end - begin)) return;
  char* bytes = out->text.data();
  Offset* origins = out->origins.data();
  for (size_t i = begin; i < end; ++i) {
    const unsigned char c = ascii_[static_cast<unsigned char>(text.text[i])];
    if (c == kRemoved) continue;
    bytes[kept] = static_cast<char>(c);
    origins[kept++] = text.origins[i];
  }
  out->Truncate(kept);
}

void BertNormalizer::NormalizeAscii(AlignedText* text) const {
  unsigned char any = 0;
  for (char& c : text->text) {
    c = static_cast<char>(ascii_[static_cast<unsigned char>(c)]);
    any |= static_cast<unsigned char>(c);
  }
  if (any < 0x80) return;
  size_t kept = 0;
  for (size_t i = 0; i < text->size(); ++i) {
    if (static_cast<unsigned char>(text->text[i]) == kRemoved) continue;
    text->text[kept] = text->text[i];
    text->origins[kept++] = text->origins[i];
  }
  text->Truncate(kept);
}

}  // namespace peruse::text
