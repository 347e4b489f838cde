// A matrix of embeddings in host memory. Keeps the storage type of the checkpoint and returns rows as floats. Copies share memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/status.h"
#include "core/tensor/dtype.h"

namespace peruse {

class EmbeddingTable {
 public:
  // Allocates uninitialized rows of storage kF32, kF16, kBF16, or of an encoding: kI8 (quantize.h) or kU8 (int4.h).
  Status Allocate(int32_t rows, int32_t cols, DType storage);

  DType storage() const { return storage_; }
  int64_t bytes() const { return data_ ? Bytes(rows_, cols_, storage_) : 0; }
  static int64_t Bytes(int32_t rows, int32_t cols, DType storage);

  bool AppendBytes(std::span<const uint8_t> bytes);  // returns false if an element is NaN or infinity
  // Writes the scales of encoded rows, in the order of rows and groups, from index `first` on.
  void WriteScales(int64_t first, std::span<const float> scales);
  // Errors: kUnsupported if the storage cannot represent a value, kOutOfMemory.
  Status WriteRows(int32_t first_row, std::span<const float> values);

  void AddRow(int32_t row, std::span<float> out) const;

 private:
  int32_t rows_ = 0;
  int32_t cols_ = 0;
  DType storage_ = DType::kF32;
  std::shared_ptr<uint8_t[]> data_;    // [rows, row_bytes_]
  std::shared_ptr<uint8_t[]> scales_;  // [rows, row_scales_] of WeightFormat::scale_type()
  size_t row_bytes_ = 0;
  size_t row_scales_ = 0;
  size_t appended_ = 0;
};

}  // namespace peruse
