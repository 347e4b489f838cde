// An embedding matrix in host memory, its rows as the checkpoint stores them, read as floats. Copies share the rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/status.h"
#include "core/tensor/dtype.h"

namespace peruse {

class EmbeddingTable {
 public:
  // storage: kF32, kF16, kBF16, or kI8 (symmetric int8 with one scale a row). Rows are undefined until written.
  Status Allocate(int32_t rows, int32_t cols, DType storage);

  DType storage() const { return storage_; }
  int64_t bytes() const;  // of all rows

  // The next bytes of the table, in the storage type. Never more than fit. For kI8 the scales come on their own. False: an element
  // that is now whole is NaN or infinity.
  bool AppendBytes(std::span<const uint8_t> bytes);
  void WriteScales(int32_t first_row, std::span<const float> scales);
  // Whole rows, converted to the storage type.
  void WriteRows(int32_t first_row, std::span<const float> values);

  // out[c] += table[row, c]
  void AddRow(int32_t row, std::span<float> out) const;

 private:
  int32_t rows_ = 0;
  int32_t cols_ = 0;
  DType storage_ = DType::kF32;
  std::shared_ptr<uint8_t[]> data_;  // [rows, cols] of storage_
  std::shared_ptr<float[]> scales_;  // [rows], kI8 only
  size_t appended_ = 0;
};

}  // namespace peruse
