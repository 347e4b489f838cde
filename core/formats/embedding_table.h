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
  // Allocates uninitialized rows of storage kF32, kF16, kBF16, or kI8 (symmetric int8 with one scale per row).
  Status Allocate(int32_t rows, int32_t cols, DType storage);

  DType storage() const { return storage_; }
  int64_t bytes() const;

  bool AppendBytes(std::span<const uint8_t> bytes);  // returns false if an element is NaN or infinity
  void WriteScales(int32_t first_row, std::span<const float> scales);
  void WriteRows(int32_t first_row, std::span<const float> values);

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
