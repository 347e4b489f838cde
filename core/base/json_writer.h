// Writes compact JSON into a string, with commas and escapes. The caller closes every array and object that it opens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peruse {

class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view name);
  void String(std::string_view text);
  void Strings(std::span<const std::string> texts);
  void Int(int64_t value);
  void Double(double value);  // enough digits to read back the same value; null if not finite
  void Bool(bool value);
  void Null();
  void Raw(std::string_view json);  // `json` is a complete JSON value

  // Whether an allocation failed. The text is then invalid.
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

std::string Quoted(std::string_view text);

using JsonMembers = std::vector<std::pair<std::string, std::string>>;

// Returns `json`, a valid object, with these members replaced, added or removed. Copies all other members unchanged.
std::string WithMembers(std::string_view json, const JsonMembers& members);

}  // namespace peruse
