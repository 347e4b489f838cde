// A batch of texts of unequal length without padding: all rows in one matrix, and the first row of each sequence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace peruse {

// Large for many texts, so it is never copied.
class RaggedBatch {
 public:
  RaggedBatch() : starts_{0} {}
  RaggedBatch(RaggedBatch&&) = default;
  RaggedBatch& operator=(RaggedBatch&&) = default;

  void Clear() {
    starts_.resize(1);
    longest_ = 0;
    key_limit_ = std::numeric_limits<int32_t>::max();
  }

  void Append(int32_t length) {
    PERUSE_CHECK(length > 0);
    starts_.push_back(starts_.back() + length);
    if (length > longest_) longest_ = length;
  }

  // Limits attention to the first `count` > 0 rows of each text: the other rows attend to these, and no row attends to the other rows.
  void SetKeyLimit(int32_t count) { key_limit_ = count; }

  int32_t sequences() const { return static_cast<int32_t>(starts_.size()) - 1; }
  int32_t rows() const { return starts_.back(); }
  int32_t start(int32_t sequence) const { return starts_[sequence]; }
  int32_t length(int32_t sequence) const { return starts_[sequence + 1] - starts_[sequence]; }
  int32_t longest() const { return longest_; }
  int32_t key_limit() const { return key_limit_; }
  // Returns the number of rows that attention may read.
  int32_t keys(int32_t sequence) const { return std::min(length(sequence), key_limit_); }
  const std::vector<int32_t>& starts() const { return starts_; }  // [sequences + 1]

 private:
  std::vector<int32_t> starts_;
  int32_t longest_ = 0;
  int32_t key_limit_ = std::numeric_limits<int32_t>::max();
};

}  // namespace peruse
