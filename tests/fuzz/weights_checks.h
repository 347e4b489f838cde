#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/weights/weights_parser.h"

namespace peruse {

// Checks that a file that is read to its end has delivered every byte of every tensor once.
class ByteCounter : public TensorVisitor {
 public:
  Status OnHeader(std::span<const TensorInfo> tensors) override {
    left_.clear();
    for (const TensorInfo& tensor : tensors) left_.push_back(tensor.bytes());
    return OkStatus();
  }
  Status OnData(size_t index, std::span<const uint8_t> bytes) override {
    PERUSE_CHECK(index < left_.size() && !bytes.empty() && bytes.size() <= left_[index]);
    left_[index] -= bytes.size();
    return OkStatus();
  }
  bool complete() const {
    for (const uint64_t left : left_) {
      if (left > 0) return false;
    }
    return true;
  }

 private:
  std::vector<uint64_t> left_;
};

template <typename Parser>
void CheckWeights(std::span<const uint8_t> file, size_t chunk) {
  ByteCounter counter;
  Parser parser(counter);
  for (size_t at = 0; at < file.size(); at += chunk) {
    if (!parser.Feed(file.subspan(at, std::min(chunk, file.size() - at))).ok()) return;
  }
  PERUSE_CHECK(!parser.Finish().ok() || counter.complete());
}

}  // namespace peruse
