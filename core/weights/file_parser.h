// What reads a weights file of one format, fed as it arrives.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"

namespace peruse {

// The caller stops at the first error.
class FileParser {
 public:
  virtual ~FileParser() = default;
  // The next bytes, at least one. kMalformedFile, kUnsupported, kOutOfMemory, kTruncatedFile, or an error of the visitor.
  virtual Status Feed(std::span<const uint8_t> chunk) = 0;
  // The end of the file: kTruncatedFile if it came too soon.
  virtual Status Finish() = 0;
};

}  // namespace peruse
