// Writing compact JSON into a string: commas and escapes are taken care of, nesting is the caller's.
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
  void String(std::string_view text);                // valid UTF-8
  void Strings(std::span<const std::string> texts);  // an array of them
  void Int(int64_t value);
  void Double(double value);  // enough digits to read back the same value; null when not finite
  void Bool(bool value);
  void Null();
  void Raw(std::string_view json);  // a value as it is written

  // Whether there was no memory for something: then the text is void.
  bool failed() const { return failed_; }
  // Whether every Double was finite.
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
