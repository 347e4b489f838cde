#include "core/base/json_writer.h"

#include <cmath>
#include <cstdio>

namespace peruse {

void JsonWriter::BeforeValue() {
  if (needs_comma_) out_->push_back(',');
  needs_comma_ = true;
}

void JsonWriter::Open(char bracket) {
  BeforeValue();
  out_->push_back(bracket);
  needs_comma_ = false;
}

void JsonWriter::Close(char bracket) {
  out_->push_back(bracket);
  needs_comma_ = true;
}

void JsonWriter::Key(std::string_view name) {
  BeforeValue();
  AppendQuoted(name);
  out_->push_back(':');
  needs_comma_ = false;
}

void JsonWriter::String(std::string_view text) {
  BeforeValue();
  AppendQuoted(text);
}

void JsonWriter::Int(int64_t value) {
  BeforeValue();
  out_->append(std::to_string(value));
}

void JsonWriter::Double(double value) {
  if (!std::isfinite(value)) return Null();
  BeforeValue();
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.17g", value);
  out_->append(buffer);
}

void JsonWriter::Bool(bool value) {
  BeforeValue();
  out_->append(value ? "true" : "false");
}

void JsonWriter::Null() {
  BeforeValue();
  out_->append("null");
}

void JsonWriter::AppendQuoted(std::string_view text) {
  out_->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out_->push_back('\\');
      out_->push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char buffer[8];
      std::snprintf(buffer, sizeof(buffer), "\\u%04x", static_cast<unsigned>(c));
      out_->append(buffer);
    } else {
      out_->push_back(c);
    }
  }
  out_->push_back('"');
}

}  // namespace peruse
