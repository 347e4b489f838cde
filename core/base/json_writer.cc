#include "core/base/json_writer.h"

#include <algorithm>
#include <cmath>

#include "core/base/decimal.h"
#include "core/base/json.h"
#include "core/base/memory.h"

namespace peruse {

void JsonWriter::Append(std::string_view text) {
  if (failed_) return;
  if (text.size() > out_->capacity() - out_->size()) {
    const size_t capacity = 2 * out_->capacity() + text.size();
    failed_ = !EnsureMemory(capacity, "the results").ok();
    if (failed_) return;
    out_->reserve(capacity);
  }
  out_->append(text);
}

void JsonWriter::BeforeValue() {
  if (needs_comma_) Append(",");
  needs_comma_ = true;
}

void JsonWriter::Open(char bracket) {
  BeforeValue();
  Append({&bracket, 1});
  needs_comma_ = false;
}

void JsonWriter::Close(char bracket) {
  Append({&bracket, 1});
  needs_comma_ = true;
}

void JsonWriter::Key(std::string_view name) {
  BeforeValue();
  AppendQuoted(name);
  Append(":");
  needs_comma_ = false;
}

void JsonWriter::String(std::string_view text) {
  BeforeValue();
  AppendQuoted(text);
}

void JsonWriter::Strings(std::span<const std::string> texts) {
  BeginArray();
  for (const std::string& text : texts) String(text);
  EndArray();
}

void JsonWriter::Int(int64_t value) {
  BeforeValue();
  Append(std::to_string(value));
}

void JsonWriter::Double(double value) {
  if (!std::isfinite(value)) {
    all_finite_ = false;
    return Null();
  }
  BeforeValue();
  Append(DoubleToDecimal(value, 17));
}

void JsonWriter::Bool(bool value) {
  BeforeValue();
  Append(value ? "true" : "false");
}

void JsonWriter::Null() {
  BeforeValue();
  Append("null");
}

void JsonWriter::Raw(std::string_view json) {
  BeforeValue();
  Append(json);
}

void JsonWriter::AppendQuoted(std::string_view text) {
  Append("\"");
  for (size_t start = 0; start < text.size();) {
    size_t end = start;
    const auto is_plain = [](char c) { return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20; };
    while (end < text.size() && is_plain(text[end])) ++end;
    Append(text.substr(start, end - start));
    start = end;
    if (end == text.size()) break;
    const char c = text[start++];
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(c);
    const char escape[] = {'\\', 'u', '0', '0', kHex[code >> 4], kHex[code & 15]};
    const char quoted[] = {'\\', c};
    Append(c == '"' || c == '\\' ? std::string_view(quoted, 2) : std::string_view(escape, sizeof(escape)));
  }
  Append("\"");
}

std::string Quoted(std::string_view text) {
  std::string json;
  JsonWriter(&json).String(text);
  return json;
}

std::string WithMembers(std::string_view json_text, const JsonMembers& members) {
  std::string json = "{";
  const auto add = [&json](std::string_view name, std::string_view value) {
    json += (json.size() > 1 ? ",\n  " : "\n  ") + Quoted(name) + ": " + std::string(value);
  };
  const JsonDocument document = std::move(JsonDocument::Parse(json_text, "the object").value());
  for (size_t i = 0; i < document.root().size(); ++i) {
    const std::string_view name = document.root().MemberName(i);
    const auto is_own = [&](const auto& member) { return member.first == name; };
    if (std::none_of(members.begin(), members.end(), is_own)) add(name, document.root().MemberValue(i).ToString());
  }
  for (const auto& [name, value] : members) {
    if (!value.empty()) add(name, value);
  }
  return json + "\n}\n";
}

}  // namespace peruse
