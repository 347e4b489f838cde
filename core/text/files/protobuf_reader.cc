#include "core/text/files/protobuf_reader.h"

#include <bit>

namespace peruse::text {

bool ProtobufReader::ReadVarint(uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (position_ >= bytes_.size()) return Fail();
    const auto byte = static_cast<unsigned char>(bytes_[position_++]);
    *value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return Fail();
}

bool ProtobufReader::Next() {
  varint_ = 0;
  fixed32_ = 0;
  value_ = {};
  if (failed_ || position_ == bytes_.size()) return false;
  uint64_t tag = 0;
  if (!ReadVarint(&tag)) return false;
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) return Fail();
  field_ = static_cast<uint32_t>(tag >> 3);
  uint64_t length = 0;
  switch (tag & 7) {
    case 0:
      return ReadVarint(&varint_);
    case 1:
      length = 8;
      break;
    case 2:
      if (!ReadVarint(&length)) return false;
      break;
    case 5:
      length = 4;
      break;
    default:
      return Fail();  // groups are not supported
  }
  if (length > bytes_.size() - position_) return Fail();
  const std::string_view value = bytes_.substr(position_, static_cast<size_t>(length));
  position_ += static_cast<size_t>(length);
  if ((tag & 7) == 2) value_ = value;
  if ((tag & 7) == 5) {
    for (size_t i = 0; i < 4; ++i) fixed32_ |= static_cast<uint32_t>(static_cast<unsigned char>(value[i])) << (8 * i);
  }
  return true;
}

float ProtobufReader::float32() const { return std::bit_cast<float>(fixed32_); }

}  // namespace peruse::text
