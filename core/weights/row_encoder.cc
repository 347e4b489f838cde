#include "core/weights/row_encoder.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/base/half.h"
#include "core/base/memory.h"
#include "core/formats/quantize.h"
#include "core/program/layout.h"

namespace peruse {

Status RowEncoder::OnHeader(std::span<const TensorInfo> tensors) {
  PERUSE_ASSIGN_OR_RETURN(const std::vector<StoredRows> stored, choose_(tensors));
  tensors_.assign(tensors.begin(), tensors.end());
  std::vector<TensorInfo> result;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const WeightFormat* const format = stored[i].format;
    parts_.push_back({.target = result.size(), .rows = stored[i]});
    result.push_back(tensors[i]);
    if (tensors[i].same_as.empty()) source_bytes_ += tensors[i].bytes();
    if (format == nullptr) continue;
    ++encoded_;
    const std::vector<int64_t>& shape = tensors[i].shape;
    TensorInfo& payload = result.back();
    payload.dtype = format->file_type();
    payload.dtype_name = DTypeName(*payload.dtype);
    payload.shape = stored[i].FileShape(shape);
    payload.begin = 0;
    payload.end = static_cast<uint64_t>(ElementCount(payload.shape));
    const DType scale_type = format->scale_type();
    const std::vector<int64_t> scale_shape = stored[i].ScaleShape(shape);
    result.push_back({.name = tensors[i].name + std::string(kScaleSuffix),
                      .dtype_name = DTypeName(scale_type),
                      .dtype = scale_type,
                      .shape = scale_shape,
                      .end = static_cast<uint64_t>(ElementCount(scale_shape) * DTypeSize(scale_type))});
  }
  return next_.OnHeader(result);
}

void RowEncoder::Open(size_t index) {
  const TensorInfo& tensor = tensors_[index];
  const int64_t size = parts_[index].rows.UnitElements(tensor.shape);
  const auto encode = [this, index](int32_t first, std::span<const float> values) {
    return Encode(index, first, values);
  };
  reader_ = std::make_unique<FloatReader>(*tensor.dtype, ElementCount(tensor.shape) / size, size, encode);
  scales_.clear();
  open_ = index;
}

Status RowEncoder::OnData(size_t index, std::span<const uint8_t> bytes) {
  if (parts_[index].rows.format == nullptr) return next_.OnData(parts_[index].target, bytes);
  if (index != open_) Open(index);
  return reader_->Feed(bytes);
}

Status RowEncoder::Encode(size_t index, int32_t first, std::span<const float> values) {
  const TensorInfo& tensor = tensors_[index];
  const auto size = static_cast<size_t>(parts_[index].rows.UnitElements(tensor.shape));
  if (!AllFinite(values)) {
    size_t bad = 0;
    while (AllFinite(values.subspan(bad * size, size))) ++bad;
    return MalformedFile("tensor \"" + tensor.name + "\" holds NaN or infinity in row " +
                         std::to_string(static_cast<size_t>(first) + bad) + ": nothing can be computed with it");
  }
  const auto in = static_cast<size_t>(parts_[index].rows.in), columns = static_cast<size_t>(tensor.shape.back());
  if (in == 0) return EncodeRows(index, values);
  if (!TryResize(&transposed_, size)) return OutOfMemory("no memory to transpose a weight");
  for (; !values.empty(); values = values.subspan(size)) {
    for (size_t i = 0; i < in; ++i) {
      for (size_t c = 0; c < columns; ++c) transposed_[c * in + i] = values[i * columns + c];
    }
    PERUSE_RETURN_IF_ERROR(EncodeRows(index, transposed_));
  }
  return OkStatus();
}

Status RowEncoder::EncodeRows(size_t index, std::span<const float> rows) {
  const TensorInfo& tensor = tensors_[index];
  Part& part = parts_[index];
  const WeightFormat& format = *part.rows.format;
  const int64_t width = part.rows.Width(tensor.shape);
  PERUSE_ASSIGN_OR_RETURN(const EncodedRows encoded, format.Encode(rows, width, &buffer_));
  if (measures_ && &format.linear_format() != &format) AddLosses(encoded, rows, static_cast<size_t>(width), part);
  PERUSE_RETURN_IF_ERROR(next_.OnData(part.target, encoded.payload));
  if (!TryGrow(&scales_, encoded.scales.size())) return OutOfMemory("no memory for the scales of weights");
  scales_.insert(scales_.end(), encoded.scales.begin(), encoded.scales.end());
  if (std::ssize(scales_) < ElementCount(tensor.shape) / width * format.RowScales(width)) return OkStatus();
  if (format.scale_type() == DType::kF16) {
    std::vector<uint16_t> halves;
    if (!TryResize(&halves, scales_.size())) return OutOfMemory("no memory for the scales of weights");
    std::transform(scales_.begin(), scales_.end(), halves.begin(), FloatToHalf);
    return next_.OnData(part.target + 1,
                        {reinterpret_cast<const uint8_t*>(halves.data()), halves.size() * sizeof(uint16_t)});
  }
  return next_.OnData(part.target + 1,
                      {reinterpret_cast<const uint8_t*>(scales_.data()), scales_.size() * sizeof(float)});
}

void RowEncoder::AddLosses(const EncodedRows& encoded, std::span<const float> rows, size_t width, Part& part) {
  std::vector<float> decoded(width);
  for (size_t r = 0; r * width < rows.size(); ++r) {
    part.rows.format->DecodeRow(encoded, r, /*multiplied=*/true, decoded);
    for (size_t i = 0; i < width; ++i) {
      const double weight = static_cast<double>(rows[r * width + i]), error = static_cast<double>(decoded[i]) - weight;
      part.errors += error * error;
      part.weights += weight * weight;
    }
  }
}

std::vector<RowEncoder::Loss> RowEncoder::losses() const {
  std::vector<Loss> losses;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].weights > 0) losses.push_back({tensors_[i].name, std::sqrt(parts_[i].errors / parts_[i].weights)});
  }
  return losses;
}

}  // namespace peruse
