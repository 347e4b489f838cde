// Copies the tensors of a weights file, some of them encoded in a weight format. An encoded tensor becomes two: rows with its own name, and
// their scales (kScaleSuffix). All rows precede the scales.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/formats/weight_format.h"
#include "core/weights/float_reader.h"
#include "core/weights/stored_rows.h"
#include "core/weights/tensor_info.h"

namespace peruse {

class RowEncoder : public TensorVisitor {
 public:
  // Chooses a format for each tensor of a file; nullptr leaves the tensor unchanged.
  using Choose = std::function<Result<std::vector<StoredRows>>(std::span<const TensorInfo>)>;

  RowEncoder(Choose choose, TensorVisitor& next) : choose_(std::move(choose)), next_(next) {}

  // Measures losses. Must precede the header.
  void Measure() { measures_ = true; }

  Status OnHeader(std::span<const TensorInfo> tensors) override;
  // Errors: kMalformedFile for NaN or infinity in an encoded tensor; kOutOfMemory.
  Status OnData(size_t index, std::span<const uint8_t> bytes) override;
  bool Wants(size_t index) const override { return next_.Wants(parts_[index].target); }

  // The functions below are valid from the header on: the number of encoded tensors, and the bytes of all source tensors (tied ones counted
  // once).
  struct Loss {
    std::string_view name;
    double relative =
        0;  // root of the squared errors' sum over that of the squared weights; of the product, too, if inputs are independent
  };
  // Losses of the tensors that layers would otherwise have in another format (WeightFormat::linear_format).
  std::vector<Loss> losses() const;
  int64_t encoded() const { return encoded_; }
  uint64_t source_bytes() const { return source_bytes_; }

 private:
  struct Part {
    size_t target = 0;  // index in the result; the scales follow
    StoredRows rows;
    double errors = 0, weights = 0;  // sums of squares
  };

  void Open(size_t index);
  // Encodes values of the tensor from index `first` of its first dimension on.
  Status Encode(size_t index, int32_t first, std::span<const float> values);
  Status EncodeRows(size_t index, std::span<const float> rows);
  void AddLosses(const EncodedRows& encoded, std::span<const float> rows, size_t width, Part& part);

  const Choose choose_;
  TensorVisitor& next_;
  bool measures_ = false;
  int64_t encoded_ = 0;
  uint64_t source_bytes_ = 0;
  std::vector<TensorInfo> tensors_;
  std::vector<Part> parts_;  // one per tensor

  size_t open_ = static_cast<size_t>(-1);
  std::unique_ptr<FloatReader> reader_;
  EncodedBuffer buffer_;
  std::vector<float> transposed_;
  std::vector<float> scales_;
};

}  // namespace peruse
