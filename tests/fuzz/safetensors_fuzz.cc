// Any bytes, in chunks of any size: the safetensors parser must neither crash nor read or allocate out of bounds.
#include <cstddef>
#include <cstdint>

#include "core/weights/safetensors.h"

namespace {

// Checks what the parser promises.
class Checker : public peruse::TensorVisitor {
 public:
  peruse::Status OnHeader(std::span<const peruse::TensorInfo> tensors) override {
    left_.clear();
    for (const peruse::TensorInfo& tensor : tensors) left_.push_back(tensor.bytes());
    return peruse::OkStatus();
  }
  peruse::Status OnData(size_t index, std::span<const uint8_t> bytes) override {
    PERUSE_CHECK(index < left_.size() && !bytes.empty() && bytes.size() <= left_[index]);
    left_[index] -= bytes.size();
    return peruse::OkStatus();
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

}  // namespace

// The first byte chooses the chunk size; 0: all at once.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> file(data + 1, size - 1);
  const size_t chunk = data[0] == 0 ? file.size() + 1 : data[0];
  Checker checker;
  peruse::SafetensorsParser parser(checker);
  for (size_t at = 0; at < file.size(); at += chunk) {
    if (!parser.Feed(file.subspan(at, std::min(chunk, file.size() - at))).ok()) return 0;
  }
  PERUSE_CHECK(!parser.Finish().ok() || checker.complete());
  return 0;
}
