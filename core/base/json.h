// Reads JSON: a bounded, non-recursive parse into a read-only tree. Hostile input gives an error, never a crash.
//
// A JsonValue is one pointer into its JsonDocument. Accessors of an absent or differently typed value return nullopt, an empty range or an
// absent value, so lookups chain: document.root().FindMember("encoder").FindMember("layers").GetInt64().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace peruse {

enum class JsonType : uint8_t { kAbsent, kNull, kBool, kNumber, kString, kArray, kObject };

class JsonValue {
 public:
  JsonValue() = default;  // an absent value

  JsonType type() const;
  bool exists() const { return node_ != nullptr; }
  bool IsNull() const { return type() == JsonType::kNull; }
  bool IsNumber() const { return type() == JsonType::kNumber; }
  bool IsString() const { return type() == JsonType::kString; }
  bool IsArray() const { return type() == JsonType::kArray; }
  bool IsObject() const { return type() == JsonType::kObject; }

  std::optional<bool> GetBool() const;
  // Returns only numbers written as integers that fit: 2.0 and 1e30 give nullopt.
  std::optional<int64_t> GetInt64() const;
  std::optional<double> GetDouble() const;
  // The string is valid UTF-8 and may contain NUL.
  std::optional<std::string_view> GetString() const;

  // Returns the number of array elements or object members, otherwise 0.
  size_t size() const;
  JsonValue operator[](size_t index) const;
  std::string_view MemberName(size_t index) const;
  JsonValue MemberValue(size_t index) const;
  // Returns the member called `name` (the last one, if repeated), or an absent value. Takes time linear in the number of members.
  JsonValue FindMember(std::string_view name) const;

  std::string ToString() const;

  class Iterator {
   public:
    Iterator(const JsonValue* array, size_t index) : array_(array), index_(index) {}
    JsonValue operator*() const { return (*array_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const JsonValue* array_;
    size_t index_;
  };
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, IsArray() ? size() : 0); }

 private:
  friend class JsonDocument;
  explicit JsonValue(const void* node) : node_(node) {}

  const void* node_ = nullptr;  // a Node of json.cc
};

class JsonDocument {
 public:
  // Parse rejects deeper nesting.
  static constexpr int kMaxDepth = 256;

  // Accepts RFC 8259 and Python's NaN, Infinity and -Infinity, in valid UTF-8, and skips a leading byte order mark. `name` is the file's name, for messages.
  static Result<JsonDocument> Parse(std::string_view text, std::string_view name = "JSON");

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  JsonValue root() const;

 private:
  struct Tree;
  explicit JsonDocument(std::unique_ptr<Tree> tree);

  std::unique_ptr<Tree> tree_;
};

}  // namespace peruse
