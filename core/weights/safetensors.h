// Parses the safetensors format from chunks of any size:
//
//   [8 bytes: length of the header, little endian] [header: JSON] [tensor bytes, without holes]
//
// Checks the whole header before it delivers bytes of tensors: known types, shape * type == byte count, no duplicate names, overlaps or
// holes. Never allocates more than the received bytes justify, whatever sizes the file claims.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/weights/tensor_info.h"
#include "core/weights/weights_parser.h"

namespace peruse {

class SafetensorsParser : public FileParser {
 public:
  static constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the safetensors library

  explicit SafetensorsParser(TensorVisitor& visitor) : visitor_(visitor) {}

  // Errors: kMalformedFile, kUnsupported, or an error of the visitor. After an error every call returns the same error.
  Status Feed(std::span<const uint8_t> chunk) override;
  Status Finish() override;

 private:
  Status FeedChunk(std::span<const uint8_t> chunk);
  Status ReadLength(std::span<const uint8_t>& chunk);
  Status ReadHeader(std::span<const uint8_t>& chunk);
  Status ReadBody(std::span<const uint8_t>& chunk);
  Status PassOn(std::span<const uint8_t> bytes);
  Status CheckEnd() const;

  enum class State : uint8_t { kLength, kHeader, kBody };

  TensorVisitor& visitor_;
  State state_ = State::kLength;
  Status failure_;
  std::string buffer_;  // the length, then the header
  uint64_t header_bytes_ = 0;
  std::vector<TensorInfo> tensors_;
  size_t current_ = 0;           // index of the current tensor
  uint64_t position_ = 0;        // consumed bytes of the body
  std::vector<uint8_t> shared_;  // bytes of the current tensor, if several of its names are wanted
};

// Parses and checks a header's JSON. Public for tests.
Result<std::vector<TensorInfo>> ParseSafetensorsHeader(std::string_view json);

}  // namespace peruse
