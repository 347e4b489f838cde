// The safetensors format, read as it arrives: a push parser fed with chunks of any size.
//
//   [8 bytes: length of the header, little endian] [header: JSON] [tensor bytes, without holes]
//
// The header is checked as a whole before any tensor byte is delivered: known types, shape * type == byte count, no
// duplicate names, no overlap, no hole. Nothing is allocated by a number from the file that its own bytes don't back.
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
  static constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as the reference implementation

  // `visitor` outlives the parser.
  explicit SafetensorsParser(TensorVisitor& visitor) : visitor_(visitor) {}

  // kMalformedFile, kUnsupported, or an error of the visitor. After an error every call returns it again.
  Status Feed(std::span<const uint8_t> chunk) override;
  // The end of the file: kTruncatedFile if it came too soon.
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
  size_t current_ = 0;           // tensor being read
  uint64_t position_ = 0;        // bytes of the body consumed
  std::vector<uint8_t> shared_;  // of the tensor being read, if several of its names are wanted
};

// Reads and checks a header's JSON. Exposed for tests.
Result<std::vector<TensorInfo>> ParseSafetensorsHeader(std::string_view json);

}  // namespace peruse
