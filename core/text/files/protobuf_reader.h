// Reads the fields of one protobuf message, in order. Does not copy the bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace peruse::text {

class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view bytes) : bytes_(bytes) {}

  // Moves to the next field. Returns false at the end, or if the bytes are malformed (then failed() is true).
  bool Next();
  bool failed() const { return failed_; }

  uint32_t field() const { return field_; }
  // The value of the current field; 0 or empty if the field has another wire type.
  uint64_t varint() const { return varint_; }
  float float32() const;
  std::string_view bytes() const { return value_; }

 private:
  bool ReadVarint(uint64_t* value);
  bool Fail() {
    failed_ = true;
    return false;
  }

  std::string_view bytes_;
  size_t position_ = 0;
  bool failed_ = false;
  uint32_t field_ = 0;
  uint64_t varint_ = 0;
  uint32_t fixed32_ = 0;
  std::string_view value_;
};

}  // namespace peruse::text
