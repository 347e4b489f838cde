#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/half.h"
#include "core/weights/safetensors.h"

namespace peruse::testing {

// The header's length, the header, then the body.
inline std::string SafetensorsFile(const std::string& header, const std::string& body) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>((static_cast<uint64_t>(header.size()) >> (8 * i)) & 0xFF);
  return file + header + body;
}

inline std::string FloatBytes(std::span<const float> values, const std::string& dtype = "F32") {
  std::string bytes;
  for (const float value : values) {
    uint64_t bits = std::bit_cast<uint32_t>(value);
    if (dtype == "F64") bits = std::bit_cast<uint64_t>(double{value});
    if (dtype == "F16") bits = FloatToHalf(value);
    if (dtype == "BF16") bits >>= 16;
    for (int i = 0; i < DTypeSize(*ParseDType(dtype)); ++i) bytes += static_cast<char>((bits >> (8 * i)) & 0xFF);
  }
  return bytes;
}

class SafetensorsWriter {
 public:
  void Add(const std::string& name, const std::vector<int64_t>& shape, std::span<const float> values,
           const std::string& dtype = "F32") {
    AddBytes(name, shape, FloatBytes(values, dtype), dtype);
  }

  void AddBytes(const std::string& name, const std::vector<int64_t>& shape, const std::string& bytes,
                const std::string& dtype) {
    if (!header_.empty()) header_ += ",";
    header_ += "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + ShapeString(shape) + ",\"data_offsets\":[" +
               std::to_string(body_.size()) + "," + std::to_string(body_.size() + bytes.size()) + "]}";
    body_ += bytes;
  }

  std::string File() const { return SafetensorsFile("{" + header_ + "}", body_); }

 private:
  std::string header_;
  std::string body_;
};

}  // namespace peruse::testing
