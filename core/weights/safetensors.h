// A push parser of the safetensors format, fed with chunks of any size.
//
//   [8 bytes: length of the header, little endian] [header: JSON] [tensor bytes, without holes]
//
// The whole header is checked before any tensor byte is delivered: known types, shape * type == byte count, no duplicate names, no overlap,
// no hole. No allocation trusts a number from the file beyond the bytes received.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/weights/file_parser.h"
#include "core/weights/tensor_info.h"

namespace peruse {

class SafetensorsParser : public FileParser {
 public:
  static constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the safetensors library

  // `visitor` outlives the parser.
  explicit SafetensorsParser(TensorVisitor& visitor) : visitor_(visitor) {}

  // Errors: kMalformedFile, kUnsupported, or an error of the visitor. After an error every call returns the same error.
  Status Feed(std::span<const uint8_t> chunk) override;
  // Ends the file. Errors: kTruncatedFile.
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
  std::string buffer_;  // the length's bytes, then the header's
  uint64_t header_bytes_ = 0;
  std::vector<TensorInfo> tensors_;
  size_t current_ = 0;           // current tensor
  uint64_t position_ = 0;        // bytes of the body consumed
  std::vector<uint8_t> shared_;  // the current tensor, if several of its names are wanted
};

// Parses and checks a header's JSON. Public for tests.
Result<std::vector<TensorInfo>> ParseSafetensorsHeader(std::string_view json);

}  // namespace peruse
