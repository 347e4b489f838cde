#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/base/status.h"
#include "core/tensor/dtype.h"

namespace peruse {

constexpr bool IsFloatDType(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

// Converts little-endian elements of a float type, or of int8, to floats. Exact except for float64, which is rounded. Precondition:
// bytes.size() == out.size() * DTypeSize(dtype).
void ConvertToFloat(DType dtype, std::span<const uint8_t> bytes, std::span<float> out);

class FloatReader {
 public:
  // Receives whole rows: values.size() is a multiple of the row's length.
  using WriteRows = std::function<Status(int32_t first_row, std::span<const float> values)>;

  FloatReader(DType dtype, int64_t rows, int64_t row_size, WriteRows write);

  // Converts the next bytes of the tensor, or passes them on if they are float32 already. Passes all complete rows to WriteRows in one call,
  // unless they exceed the small buffer. `bytes` must not exceed the rest of the tensor.
  Status Feed(std::span<const uint8_t> bytes);

 private:
  Status PassFloats(std::span<const uint8_t>* bytes);
  Status Write(std::span<const float> values);
  Status Flush();

  DType dtype_;
  int64_t row_size_;
  int64_t missing_;  // number of elements that are still to arrive
  WriteRows write_;
  int64_t capacity_;                 // size of values_, a multiple of row_size_
  std::unique_ptr<float[]> values_;  // complete rows
  int64_t filled_ = 0;
  int32_t next_row_ = 0;
  std::array<uint8_t, 8> split_{};  // an element whose bytes are in two chunks
  size_t split_bytes_ = 0;
};

}  // namespace peruse
