// Parser of a weights file of one format, fed as it arrives.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/status.h"

namespace peruse {

// The caller stops at the first error.
class FileParser {
 public:
  virtual ~FileParser() = default;
  // Parses at least one byte. Errors: kMalformedFile, kUnsupported, kOutOfMemory, kTruncatedFile, or an error of the visitor.
  virtual Status Feed(std::span<const uint8_t> chunk) = 0;
  // Ends the file. Errors: kTruncatedFile.
  virtual Status Finish() = 0;
};

}  // namespace peruse
