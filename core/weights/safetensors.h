// The safetensors format, read as it arrives: a push parser fed with chunks of any size.
//
//   [8 bytes: length of the header, little endian] [header: JSON] [tensor bytes, without holes]
//
// The header is checked as a whole before any tensor byte is delivered: known types, shape * type == byte count, no
// duplicate names, no overlap, no hole. Nothing is allocated by a number from the file that its own bytes don't back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/tensor/dtype.h"

namespace peruse {

struct TensorInfo {
  std::string name;
  std::string dtype_name;      // as written
  std::optional<DType> dtype;  // nothing for types that no model of ours reads (U16, F8_E4M3, ...)
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // bytes from the end of the header
  uint64_t end = 0;

  uint64_t bytes() const { return end - begin; }
};

// "[2, 3]"
std::string ShapeString(std::span<const int64_t> shape);

// Where tensors go.
class SafetensorsVisitor {
 public:
  virtual ~SafetensorsVisitor() = default;
  // The checked header, tensors in file order. An error stops the parse.
  virtual Status OnHeader(std::span<const TensorInfo> tensors) = 0;
  // The next bytes of tensor `index`, in order and without gaps. Tensors without bytes get no call.
  virtual Status OnData(size_t index, std::span<const uint8_t> bytes) = 0;
};

class SafetensorsParser {
 public:
  static constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as the reference implementation

  // `visitor` outlives the parser.
  explicit SafetensorsParser(SafetensorsVisitor& visitor) : visitor_(visitor) {}

  // kMalformedFile, kUnsupported, or an error of the visitor. After an error every call returns it again.
  Status Feed(std::span<const uint8_t> chunk);
  // The end of the file: kTruncatedFile if it came too soon.
  Status Finish();

 private:
  Status FeedChunk(std::span<const uint8_t> chunk);
  Status ReadLength(std::span<const uint8_t>& chunk);
  Status ReadHeader(std::span<const uint8_t>& chunk);
  Status ReadBody(std::span<const uint8_t>& chunk);
  Status CheckEnd() const;

  enum class State : uint8_t { kLength, kHeader, kBody };

  SafetensorsVisitor& visitor_;
  State state_ = State::kLength;
  Status failure_;
  std::string buffer_;  // the length's bytes, then the header's
  uint64_t header_bytes_ = 0;
  std::vector<TensorInfo> tensors_;
  size_t current_ = 0;     // tensor being read
  uint64_t position_ = 0;  // bytes of the body consumed
};

// Reads and checks a header's JSON. Exposed for tests.
Result<std::vector<TensorInfo>> ParseSafetensorsHeader(std::string_view json);

}  // namespace peruse
