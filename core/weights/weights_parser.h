// A weights file of any format that is read, fed as it arrives: its first bytes say which it is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/weights/file_parser.h"
#include "core/weights/tensor_info.h"

namespace peruse {

class WeightsParser {
 public:
  // `visitor` outlives the parser.
  explicit WeightsParser(TensorVisitor& visitor) : visitor_(visitor) {}

  // As FileParser; chunks may be empty. After an error every call returns it again.
  Status Feed(std::span<const uint8_t> chunk);
  Status Finish();

 private:
  Status FeedChunk(std::span<const uint8_t> chunk);
  Status FinishFile();
  Status Choose();

  TensorVisitor& visitor_;
  Status failure_;
  std::vector<uint8_t> first_;  // until it is known what they start
  std::unique_ptr<FileParser> parser_;
};

}  // namespace peruse
