#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"

namespace peruse {

// Parses a weights file as it arrives. The caller stops at the first error.
class FileParser {
 public:
  virtual ~FileParser() = default;
  // Consumes at least one byte. Errors: kMalformedFile, kUnsupported, kOutOfMemory, kTruncatedFile, or an error of the visitor.
  virtual Status Feed(std::span<const uint8_t> chunk) = 0;
  virtual Status Finish() = 0;
};

}  // namespace peruse
