// Parses a weights file of any supported format, which the first bytes reveal.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/weights/tensor_info.h"

namespace peruse {

// Parses a weights file as it arrives. The caller stops at the first error.
class FileParser {
 public:
  virtual ~FileParser() = default;
  // Consumes at least one byte. Errors: kMalformedFile, kUnsupported, kOutOfMemory, kTruncatedFile, or an error of the visitor.
  virtual Status Feed(std::span<const uint8_t> chunk) = 0;
  virtual Status Finish() = 0;
};

class WeightsParser {
 public:
  explicit WeightsParser(TensorVisitor& visitor) : visitor_(visitor) {}

  // Like FileParser::Feed, but accepts empty chunks. After an error every call returns the same error.
  Status Feed(std::span<const uint8_t> chunk);
  Status Finish();

 private:
  Status FeedChunk(std::span<const uint8_t> chunk);
  Status FinishFile();
  Status Choose();

  TensorVisitor& visitor_;
  Status failure_;
  std::vector<uint8_t> first_;  // the first bytes, until the format is known
  std::unique_ptr<FileParser> parser_;
};

}  // namespace peruse
