// Storage formats of a linear layer's weights. Each format is a class in its own file (float32.cc, float16.cc, int8.cc, int4.cc) and a
// row of the table in weight_format.cc. Each backend has a kernel for those of linear layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/formats/linear_spec.h"
#include "core/tensor/dtype.h"

namespace peruse {

// Whole rows of encoded weights. Payload and scales may arrive separately, as in a file; the missing span is then empty.
struct EncodedRows {
  std::span<const uint8_t> payload;  // WeightFormat::RowBytes per row
  std::span<const float> scales;     // WeightFormat::RowScales per row
};

struct EncodedBuffer {
  std::vector<uint8_t> payload;
  std::vector<float> scales;
};

class WeightFormat {
 public:
  virtual ~WeightFormat() = default;

  // The name in printed programs, for example "float32".
  virtual const char* name() const = 0;
  // The name in the public API, for example "f32".
  virtual std::string_view dtype() const = 0;

  virtual int64_t RowBytes(int64_t width) const = 0;
  virtual int64_t RowScales(int64_t width) const { return (void)width, 0; }
  // Bytes of a linear layer's row in memory, with its scales.
  virtual int64_t RowMemory(int64_t width) const { return RowBytes(width) + RowScales(width) * int64_t{sizeof(float)}; }
  // The result is valid until `rows` or `buffer` change. Errors: kUnsupported if the format cannot represent a weight.
  virtual Result<EncodedRows> Encode(std::span<const float> rows, int64_t width, EncodedBuffer* buffer) const = 0;
  // Decodes values.size() elements of `payload`, without applying scales.
  virtual void Decode(std::span<const uint8_t> payload, std::span<double> values) const = 0;

  // The format of the linear layers that do not have this one, in a model of this format.
  virtual const WeightFormat& linear_format() const { return *this; }
  // Whether a linear layer of this shape has this format, in a model of this format.
  virtual bool KeepsLinear(const LinearSpec& spec) const { return (void)spec, true; }
  // Decodes row `row`, with its scales. With `multiplied`, the values are those that a linear layer of this format multiplies. Only formats
  // that files store implement it.
  virtual void DecodeRow(const EncodedRows& rows, size_t row, bool multiplied, std::span<float> values) const {
    (void)rows, (void)row, (void)multiplied, (void)values;
    PERUSE_CHECK(false);
  }

  // The type of checkpoint tensors that store rows in this format, with scales in a second tensor; nullopt if they store floats.
  virtual std::optional<DType> file_type() const { return std::nullopt; }
  virtual DType scale_type() const { return DType::kF32; }
  // The shapes of those two tensors for a tensor of `shape`.
  virtual std::vector<int64_t> FileShape(std::span<const int64_t> shape) const { return {shape.begin(), shape.end()}; }
  virtual std::vector<int64_t> ScaleShape(std::span<const int64_t> shape) const { return {shape[0]}; }
  // Errors: kMalformedFile if the payload has invalid elements.
  virtual Status CheckPayload(std::span<const uint8_t> payload) const { return (void)payload, OkStatus(); }
  // Returns the storage type of an embedding table whose checkpoint tensor has type `source`. `words` is true for token embeddings.
  virtual DType TableType(DType source, bool words) const { return (void)words, source; }

  // Errors: kUnsupported if the format cannot store such a layer.
  virtual Status Check(const LinearSpec& spec) const { return (void)spec, OkStatus(); }
  // Turns a decoded row of a linear layer into the integers that products sum, and returns their scale.
  virtual double Integers(std::span<const double> scales, std::span<double> row) const {
    return (void)row, scales.front();
  }
  // Returns the levels of the quantised activations, with one scale per row; 0 if activations stay floats.
  virtual int32_t InputLevels(const LinearSpec& spec) const { return (void)spec, 0; }
  virtual bool WidensInput(const LinearSpec& spec) const { return (void)spec, false; }
};

const WeightFormat& FormatOf(Precision precision);
// The precision of a linear layer of this shape in a model of `precision`.
Precision LinearPrecision(Precision precision, const LinearSpec& spec);
// The precision of a linear layer whose rows a file stores in the format `stored`: that format, if the layer can have it.
Precision StoredPrecision(const LinearSpec& spec, const WeightFormat& stored);
// The precision of all linear layers in a model of `precision`, in a backend without a kernel for it.
Precision LinearFallback(Precision precision);
// The format that files store as `type`; nullptr for floats and types of no format.
const WeightFormat* FormatOfFile(DType type);
const Precision* FindPrecision(std::string_view dtype);
std::string PrecisionNames();

const WeightFormat& Float32Format();
const WeightFormat& Float16Format();
const WeightFormat& Int8Format();
const WeightFormat& Int4Format();

}  // namespace peruse
