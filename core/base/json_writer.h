// Writes compact JSON into a string. Handles commas and escapes; the caller closes what it opens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace peruse {

class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view name);
  void String(std::string_view text);  // valid UTF-8
  void Strings(std::span<const std::string> texts);
  void Int(int64_t value);
  void Double(double value);  // enough digits to read back the same value; null when not finite
  void Bool(bool value);
  void Null();
  void Raw(std::string_view json);  // a value that is already JSON

  // Whether an allocation failed, which leaves the text invalid.
  bool failed() const { return failed_; }
  bool all_finite() const { return all_finite_; }

 private:
  void Append(std::string_view text);
  void Open(char bracket);
  void Close(char bracket);
  void BeforeValue();
  void AppendQuoted(std::string_view text);

  std::string* out_;
  bool needs_comma_ = false;
  bool failed_ = false;
  bool all_finite_ = true;
};

}  // namespace peruse
