#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/memory.h"
#include "core/base/status.h"

namespace peruse {

class RowReader {
 public:
  using Write = std::function<Status(int64_t first_row, std::span<const uint8_t> rows)>;

  RowReader(int64_t row_bytes, Write write)
      : row_bytes_(static_cast<size_t>(row_bytes)),
        capacity_(std::max<size_t>(kBufferBytes / row_bytes_, 1) * row_bytes_),
        write_(std::move(write)) {}

  // Accepts the next bytes of the tensor. Its last byte must complete a row.
  Status Feed(std::span<const uint8_t> bytes) {
    while (!bytes.empty()) {
      const size_t taken = std::min(bytes.size(), capacity_ - rows_.size());
      if (!TryReserve(&rows_, capacity_)) return OutOfMemory("no memory for rows of weights");
      rows_.insert(rows_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
      bytes = bytes.subspan(taken);
      if (rows_.size() == capacity_ || (bytes.empty() && rows_.size() % row_bytes_ == 0)) {
        PERUSE_RETURN_IF_ERROR(write_(next_row_, rows_));
        next_row_ += static_cast<int64_t>(rows_.size() / row_bytes_);
        rows_.clear();
      }
    }
    return OkStatus();
  }

 private:
  static constexpr size_t kBufferBytes = 32 << 10;

  const size_t row_bytes_;
  const size_t capacity_;
  const Write write_;
  std::vector<uint8_t> rows_;
  int64_t next_row_ = 0;
};

}  // namespace peruse
