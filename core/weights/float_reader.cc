#include "core/weights/float_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "core/base/half.h"

namespace peruse {
namespace {

constexpr int64_t kBufferElements = 32 * 1024;

// Returns the number of rows per write: a power of two, because packed weights are filled in whole panels of columns.
int64_t RowsAtOnce(int64_t rows, int64_t row_size) {
  const auto most = static_cast<uint64_t>(std::max<int64_t>(1, kBufferElements / row_size));
  return std::min(rows, static_cast<int64_t>(std::bit_floor(most)));
}

template <typename T, typename Convert>
void ConvertAll(std::span<const uint8_t> bytes, std::span<float> out, Convert convert) {
  for (size_t i = 0; i < out.size(); ++i) {
    T value;  // a copy, because the source may be unaligned
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = convert(value);
  }
}

}  // namespace

void ConvertToFloat(DType dtype, std::span<const uint8_t> bytes, std::span<float> out) {
  PERUSE_CHECK(bytes.size() == out.size() * static_cast<size_t>(DTypeSize(dtype)));
  switch (dtype) {
    case DType::kF64:
      ConvertAll<double>(bytes, out, [](double value) { return static_cast<float>(value); });
      return;
    case DType::kF32:
      std::memcpy(out.data(), bytes.data(), bytes.size());
      return;
    case DType::kF16:
      ConvertAll<uint16_t>(bytes, out, HalfToFloat);
      return;
    case DType::kBF16:
      ConvertAll<uint16_t>(bytes, out, Bfloat16ToFloat);
      return;
    case DType::kI8:
      ConvertAll<int8_t>(bytes, out, [](int8_t value) { return static_cast<float>(value); });
      return;
    case DType::kI64:
    case DType::kI32:
    case DType::kI16:
    case DType::kU8:
    case DType::kBool:
      PERUSE_CHECK(false);
  }
}

FloatReader::FloatReader(DType dtype, int64_t rows, int64_t row_size, WriteRows write)
    : dtype_(dtype),
      row_size_(row_size),
      missing_(rows * row_size),
      write_(std::move(write)),
      capacity_(RowsAtOnce(rows, row_size) * row_size) {}

Status FloatReader::Feed(std::span<const uint8_t> bytes) {
  const size_t element = static_cast<size_t>(DTypeSize(dtype_));
  while (!bytes.empty()) {
    PERUSE_RETURN_IF_ERROR(PassFloats(&bytes));
    if (bytes.empty()) return OkStatus();
    if (!values_) {
      values_.reset(new (std::nothrow) float[static_cast<size_t>(capacity_)]);
      if (!values_) return OutOfMemory("no memory for a row of weights");
    }
    size_t taken = 0;
    if (split_bytes_ > 0 || bytes.size() < element) {
      taken = std::min(bytes.size(), element - split_bytes_);
      std::memcpy(split_.data() + split_bytes_, bytes.data(), taken);
      split_bytes_ += taken;
      if (split_bytes_ == element) {
        ConvertToFloat(dtype_, std::span(split_).first(element), std::span(&values_[filled_], 1));
        ++filled_;
        split_bytes_ = 0;
      }
    } else {
      const size_t count = std::min(bytes.size() / element, static_cast<size_t>(capacity_ - filled_));
      taken = count * element;
      ConvertToFloat(dtype_, bytes.first(taken), std::span(&values_[filled_], count));
      filled_ += static_cast<int64_t>(count);
    }
    bytes = bytes.subspan(taken);
    if (filled_ == capacity_ || filled_ == missing_) PERUSE_RETURN_IF_ERROR(Flush());
  }
  return OkStatus();
}

// Passes aligned float32 numbers without copying them, in the pieces that the buffer would have.
Status FloatReader::PassFloats(std::span<const uint8_t>* bytes) {
  if (dtype_ != DType::kF32 || reinterpret_cast<uintptr_t>(bytes->data()) % alignof(float) != 0) return OkStatus();
  while (filled_ == 0 && split_bytes_ == 0 && missing_ > 0) {
    const auto count = static_cast<size_t>(std::min(capacity_, missing_));
    if (bytes->size() < count * sizeof(float)) break;
    const auto* const values = reinterpret_cast<const float*>(bytes->data());
    PERUSE_RETURN_IF_ERROR(Write({values, count}));
    *bytes = bytes->subspan(count * sizeof(float));
  }
  return OkStatus();
}

Status FloatReader::Write(std::span<const float> values) {
  PERUSE_RETURN_IF_ERROR(write_(next_row_, values));
  next_row_ += static_cast<int32_t>(std::ssize(values) / row_size_);
  missing_ -= std::ssize(values);
  return OkStatus();
}

Status FloatReader::Flush() {
  if (filled_ == 0) return OkStatus();
  PERUSE_CHECK(filled_ % row_size_ == 0);
  PERUSE_RETURN_IF_ERROR(Write({values_.get(), static_cast<size_t>(filled_)}));
  filled_ = 0;
  return OkStatus();
}

}  // namespace peruse
