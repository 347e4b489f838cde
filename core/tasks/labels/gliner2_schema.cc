#include "core/tasks/labels/gliner2_schema.h"

#include <algorithm>
#include <set>

#include "core/base/utf8.h"
#include "core/text/unicode/unicode.h"

namespace peruse {
namespace {

std::string_view MarkerOf(SchemaPart::Kind kind) {
  switch (kind) {
    case SchemaPart::Kind::kStructure:
      return "[C]";
    case SchemaPart::Kind::kEntities:
      return "[E]";
    case SchemaPart::Kind::kRelation:
      return "[R]";
    case SchemaPart::Kind::kClassification:
      return "[L]";
  }
  return "";
}

std::string PromptOf(const SchemaPart& part) {
  std::string prompt = part.name;
  if (!part.prompt.empty()) prompt += ": " + part.prompt;
  for (const SchemaField& field : part.fields) {
    if (field.description) prompt += " [DESCRIPTION] " + field.name + ": " + *field.description;
  }
  for (const auto& [text, label] : part.examples) {
    const bool known = std::any_of(part.fields.begin(), part.fields.end(),
                                   [&](const SchemaField& field) { return field.name == label; });
    if (known) prompt += " [EXAMPLE] " + text + " [OUTPUT] " + label;
  }
  return prompt;
}

// ( structure: field ( choice | choice ) , field ( choice ) )
void AppendChoices(const SchemaPart& part, std::vector<std::string>& words) {
  bool any = false;
  for (const SchemaField& field : part.fields) {
    if (field.choices.empty()) continue;
    if (any) {
      words.emplace_back(",");
    } else {
      words.insert(words.end(), {"(", part.name + ":"});
    }
    any = true;
    words.insert(words.end(), {field.name, "("});
    for (const std::string& choice : field.choices) {
      if (&choice != &field.choices.front()) words.emplace_back("|");
      words.push_back(choice);
    }
    words.emplace_back(")");
  }
  if (any) words.emplace_back(")");
}

Status CheckText(std::string_view what, std::string_view text) {
  for (const std::string_view marker : kSchemaMarkers) {
    if (text.find(marker) == std::string_view::npos) continue;
    return InvalidArgument("the " + std::string(what) + " \"" + std::string(text.substr(0, 100)) +
                           "\" contains a marker of the model");
  }
  return OkStatus();
}

Status CheckName(std::string_view what, std::string_view name) {
  const bool blank = SplitSchemaText(name).empty();
  if (blank) return InvalidArgument("a " + std::string(what) + " of the schema has no name");
  return CheckText(what, name);
}

Status CheckFields(const SchemaPart& part) {
  const std::string_view what = part.kind == SchemaPart::Kind::kClassification ? "label" : "field";
  if (part.fields.empty())
    return InvalidArgument("\"" + part.name + "\" of the schema has no " + std::string(what) + "s");
  std::set<std::string_view> names;
  for (const SchemaField& field : part.fields) {
    PERUSE_RETURN_IF_ERROR(CheckName(what, field.name));
    if (!names.insert(field.name).second) {
      return InvalidArgument("\"" + part.name + "\" of the schema names \"" + field.name.substr(0, 100) + "\" twice");
    }
    PERUSE_RETURN_IF_ERROR(CheckText("description", field.description.value_or("")));
    for (const std::string& choice : field.choices) PERUSE_RETURN_IF_ERROR(CheckName("choice", choice));
  }
  return OkStatus();
}

// The classes of WhitespaceTokenSplitter's regular expression, which ignores case.
constexpr char32_t kCaselessLetters[] = {0x130, 0x131, 0x17F, 0x212A};  // [a-z] matches these in Python

bool IsLetter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::find(std::begin(kCaselessLetters), std::end(kCaselessLetters), c) != std::end(kCaselessLetters);
}

bool IsDigit(char32_t c) { return c >= '0' && c <= '9'; }
bool IsDomain(char32_t c) { return IsLetter(c) || IsDigit(c) || c == '.' || c == '-'; }
bool IsLocal(char32_t c) { return IsDomain(c) || c == '_' || c == '%' || c == '+'; }
bool IsHandle(char32_t c) { return IsLetter(c) || IsDigit(c) || c == '_'; }
bool IsSpace(char32_t c) { return text::IsSpace(c) || (c >= 0x1C && c <= 0x1F); }
bool IsNoSpace(char32_t c) { return !IsSpace(c); }
bool IsWord(char32_t c) {
  constexpr uint8_t kClasses = text::kLetterClass | text::kNumberClass | text::kMarkClass;
  return c == '_' || c == 0x200C || c == 0x200D || (text::CharClasses(c) & kClasses) != 0;
}

size_t Skip(std::string_view text, size_t begin, bool (*is)(char32_t)) {
  while (begin < text.size()) {
    size_t end = begin;
    if (!is(DecodeUtf8(text, &end))) break;
    begin = end;
  }
  return begin;
}

// Whether `text` begins with `start`, which is in lower case, in either case. "ſ" is an "s" without case.
size_t SkipStart(std::string_view text, size_t begin, std::string_view start) {
  for (const char letter : start) {
    if (begin == text.size()) return std::string_view::npos;
    size_t end = begin;
    const char32_t c = DecodeUtf8(text, &end);
    const char32_t lower = c == 0x17F ? 's' : c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
    if (lower != static_cast<unsigned char>(letter)) return std::string_view::npos;
    begin = end;
  }
  return begin;
}

// Each of the following functions returns the end of one alternative of the expression at `begin`, or `begin`.

size_t PageAddress(std::string_view text, size_t begin) {
  for (const std::string_view start : {"http://", "https://", "www."}) {
    const size_t rest = SkipStart(text, begin, start);
    if (rest == std::string_view::npos) continue;
    if (const size_t end = Skip(text, rest, IsNoSpace); end > rest) return end;
  }
  return begin;
}

// `local_end` remembers the end of the last run of characters that may precede "@", so that long runs are read once.
size_t MailAddress(std::string_view text, size_t begin, size_t* local_end) {
  if (begin >= *local_end) *local_end = Skip(text, begin, IsLocal);
  const size_t at = *local_end;
  if (at == begin || at == text.size() || text[at] != '@') return begin;
  const size_t domain = at + 1;
  for (size_t dot = Skip(text, domain, IsDomain); dot-- > domain + 1;) {
    if (text[dot] != '.') continue;
    const size_t end = Skip(text, dot + 1, IsLetter);
    size_t second = dot + 1;
    if (second < end) DecodeUtf8(text, &second);
    if (second < end) return end;  // two letters at least
  }
  return begin;
}

size_t Handle(std::string_view text, size_t begin) {
  if (text[begin] != '@') return begin;
  const size_t end = Skip(text, begin + 1, IsHandle);
  return end == begin + 1 ? begin : end;
}

size_t JoinedWord(std::string_view text, size_t begin) {
  size_t end = Skip(text, begin, IsWord);
  while (end > begin && end < text.size() && text[end] == '-') {
    const size_t more = Skip(text, end + 1, IsWord);
    if (more == end + 1) break;
    end = more;
  }
  return end;
}

bool IsCased(char32_t c) { return (text::CharClasses(c) & text::kLetterClass) != 0; }

}  // namespace

SchemaWords WordsOf(const Schema& schema) {
  SchemaWords result;
  std::vector<std::string>& words = result.words;
  for (const SchemaPart& part : schema) {
    if (&part != &schema.front()) words.emplace_back("[SEP_STRUCT]");
    std::vector<int32_t>& markers = result.markers.emplace_back();
    words.emplace_back("(");
    markers.push_back(static_cast<int32_t>(words.size()));
    words.insert(words.end(), {"[P]", PromptOf(part), "("});
    for (const SchemaField& field : part.fields) {
      markers.push_back(static_cast<int32_t>(words.size()));
      words.insert(words.end(), {std::string(MarkerOf(part.kind)), field.name});
    }
    words.insert(words.end(), {")", ")"});
  }
  words.emplace_back("[SEP_TEXT]");
  result.first_choice_word = static_cast<int32_t>(words.size());
  for (const SchemaPart& part : schema) AppendChoices(part, words);
  return result;
}

Status CheckSchema(const Schema& schema) {
  if (schema.empty()) return InvalidArgument("option schema must name something to find");
  std::set<std::string_view> names;
  for (const SchemaPart& part : schema) {
    PERUSE_RETURN_IF_ERROR(CheckName("part", part.name));
    if (!names.insert(part.name).second) {
      return InvalidArgument("the schema has two parts called \"" + part.name.substr(0, 100) + "\"");
    }
    PERUSE_RETURN_IF_ERROR(CheckText("prompt", part.prompt));
    PERUSE_RETURN_IF_ERROR(CheckFields(part));
    for (const auto& [text, label] : part.examples) {
      PERUSE_RETURN_IF_ERROR(CheckText("example", text));
      PERUSE_RETURN_IF_ERROR(CheckText("label", label));
    }
  }
  return OkStatus();
}

std::vector<text::Offset> SplitSchemaText(std::string_view text) {
  std::vector<text::Offset> words;
  size_t local_end = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    const char32_t c = DecodeUtf8(text, &end);
    if (!IsSpace(c)) {
      const size_t single = end;
      end = PageAddress(text, begin);
      if (end == begin) end = MailAddress(text, begin, &local_end);
      if (end == begin) end = Handle(text, begin);
      if (end == begin) end = JoinedWord(text, begin);
      if (end == begin) end = single;
      words.push_back({static_cast<int32_t>(begin), static_cast<int32_t>(end)});
    }
    begin = end;
  }
  return words;
}

std::string Lowered(std::string_view text) {
  constexpr char32_t kSigma = 0x3A3, kFinalSigma = 0x3C2;
  std::string result;
  bool after_letter = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = DecodeUtf8(text, &at);
    size_t next = at;
    const bool before_letter = at < text.size() && IsCased(DecodeUtf8(text, &next));
    if (c == kSigma && after_letter && !before_letter) {
      AppendUtf8(kFinalSigma, &result);
    } else {
      const text::LowerCase lower = text::ToLower(c);
      AppendUtf8(lower.first, &result);
      if (lower.second != 0) AppendUtf8(lower.second, &result);
    }
    after_letter = IsCased(c);
  }
  return result;
}

}  // namespace peruse
