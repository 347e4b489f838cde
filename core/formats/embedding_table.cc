#include "core/formats/embedding_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "core/base/half.h"
#include "core/formats/int4.h"
#include "core/formats/weight_format.h"

namespace peruse {
namespace {

uint16_t FloatToBfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

template <typename T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void Store(T value, uint8_t* to) {
  std::memcpy(to, &value, sizeof(T));
}

// Returns false if an element has all bits of `mask`, the exponent's bits, set: it is then NaN or infinity.
template <typename T>
bool ExponentsBelow(std::span<const uint8_t> elements, T mask) {
  bool below = true;
  for (size_t at = 0; at + sizeof(T) <= elements.size(); at += sizeof(T)) {
    below &= (Load<T>(&elements[at]) & mask) != mask;
  }
  return below;
}

// Optimised for code size, not for speed: a call of the model only reads one row per token.
template <typename T, typename Convert>
void AddElements(const uint8_t* from, std::span<float> out, Convert convert) {
#pragma clang loop vectorize(disable) unroll(disable)
  for (size_t c = 0; c < out.size(); ++c) out[c] += convert(Load<T>(from + sizeof(T) * c));
}

int64_t RowBytes(int32_t cols, DType storage) {
  const WeightFormat* const format = FormatOfFile(storage);
  return format != nullptr ? format->RowBytes(cols) : int64_t{cols} * DTypeSize(storage);
}

int64_t RowScales(int32_t cols, DType storage) {
  const WeightFormat* const format = FormatOfFile(storage);
  return format != nullptr ? format->RowScales(cols) : 0;
}

size_t ScaleSize(DType storage) {
  const WeightFormat* const format = FormatOfFile(storage);
  return format != nullptr ? static_cast<size_t>(DTypeSize(format->scale_type())) : 0;
}

}  // namespace

Status EmbeddingTable::Allocate(int32_t rows, int32_t cols, DType storage) {
  rows_ = rows;
  cols_ = cols;
  storage_ = storage;
  row_bytes_ = static_cast<size_t>(RowBytes(cols, storage));
  row_scales_ = static_cast<size_t>(RowScales(cols, storage));
  const uint64_t size = static_cast<uint64_t>(rows) * row_bytes_;
  const uint64_t scales = static_cast<uint64_t>(rows) * row_scales_ * ScaleSize(storage);
  if (size <= static_cast<uint64_t>(std::numeric_limits<ptrdiff_t>::max())) {
    data_.reset(new (std::nothrow) uint8_t[static_cast<size_t>(size)]);
    if (scales > 0) scales_.reset(new (std::nothrow) uint8_t[static_cast<size_t>(scales)]);
  }
  if (!data_ || (scales > 0 && !scales_)) {
    return OutOfMemory("no memory for an embedding table of " + std::to_string(size) + " bytes");
  }
  return OkStatus();
}

int64_t EmbeddingTable::Bytes(int32_t rows, int32_t cols, DType storage) {
  return int64_t{rows} *
         (RowBytes(cols, storage) + RowScales(cols, storage) * static_cast<int64_t>(ScaleSize(storage)));
}

bool EmbeddingTable::AppendBytes(std::span<const uint8_t> bytes) {
  PERUSE_CHECK(appended_ + bytes.size() <= static_cast<size_t>(rows_) * row_bytes_);
  const size_t part = appended_ % static_cast<size_t>(DTypeSize(storage_));
  const std::span<const uint8_t> held(data_.get() + appended_ - part, part + bytes.size());
  std::memcpy(data_.get() + appended_, bytes.data(), bytes.size());
  appended_ += bytes.size();
  switch (storage_) {
    case DType::kF32:
      return ExponentsBelow<uint32_t>(held, 0x7F800000u);
    case DType::kF16:
    case DType::kBF16:
      return ExponentsBelow<uint16_t>(held, storage_ == DType::kF16 ? 0x7C00u : 0x7F80u);
    case DType::kF64:
    case DType::kI64:
    case DType::kI32:
    case DType::kI16:
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return true;
  }
  return true;
}

void EmbeddingTable::WriteScales(int64_t first, std::span<const float> scales) {
  PERUSE_CHECK(scales_ && first >= 0 && first + std::ssize(scales) <= rows_ * static_cast<int64_t>(row_scales_));
  uint8_t* to = scales_.get() + static_cast<size_t>(first) * ScaleSize(storage_);
  for (const float scale : scales) {
    if (storage_ == DType::kI8) {
      Store(scale, to);
    } else {
      Store(FloatToHalf(scale), to);
    }
    to += ScaleSize(storage_);
  }
}

Status EmbeddingTable::WriteRows(int32_t first_row, std::span<const float> values) {
  const size_t rows = values.size() / static_cast<size_t>(cols_);
  PERUSE_CHECK(rows * static_cast<size_t>(cols_) == values.size() && first_row >= 0 &&
               first_row + static_cast<int64_t>(rows) <= rows_);
  uint8_t* to = data_.get() + static_cast<size_t>(first_row) * row_bytes_;
  if (const WeightFormat* const format = FormatOfFile(storage_)) {
    EncodedBuffer buffer;
    PERUSE_ASSIGN_OR_RETURN(const EncodedRows encoded, format->Encode(values, cols_, &buffer));
    std::copy(encoded.payload.begin(), encoded.payload.end(), to);
    WriteScales(int64_t{first_row} * static_cast<int64_t>(row_scales_), encoded.scales);
    return OkStatus();
  }
  for (const float value : values) {
    if (storage_ == DType::kF16) {
      Store(FloatToHalf(value), to);
    } else if (storage_ == DType::kBF16) {
      Store(FloatToBfloat16(value), to);
    } else {
      Store(value, to);
    }
    to += DTypeSize(storage_);
  }
  return OkStatus();
}

void EmbeddingTable::AddRow(int32_t row, std::span<float> out) const {
  PERUSE_CHECK(row >= 0 && row < rows_ && out.size() == static_cast<size_t>(cols_));
  const uint8_t* from = data_.get() + static_cast<size_t>(row) * row_bytes_;
  const size_t first_scale = static_cast<size_t>(row) * row_scales_;
  switch (storage_) {
    case DType::kF16:
      return AddElements<uint16_t>(from, out, HalfToFloat);
    case DType::kBF16:
      return AddElements<uint16_t>(from, out, Bfloat16ToFloat);
    case DType::kI8: {
      const auto scale = Load<float>(scales_.get() + sizeof(float) * first_scale);
      return AddElements<int8_t>(from, out, [scale](int8_t value) { return scale * static_cast<float>(value); });
    }
    case DType::kU8: {
      const uint8_t* const scales = scales_.get() + sizeof(uint16_t) * first_scale;
      return AddInt4Row(from, [scales](size_t group) { return HalfToFloat(Load<uint16_t>(scales + 2 * group)); }, out);
    }
    case DType::kF64:
    case DType::kF32:
    case DType::kI64:
    case DType::kI32:
    case DType::kI16:
    case DType::kBool:
      return AddElements<float>(from, out, [](float value) { return value; });
  }
}

}  // namespace peruse
