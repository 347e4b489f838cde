// Formats of the weights of linear layers: what each Precision means, on every machine. A format is a class in a file of its own
// (float32.cc, float16.cc, int8.cc) and a row of the table in weight_format.cc; a backend has a kernel for it.
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

// Whole rows of weights in a format. Payload and scales may come apart, as a file has them: the other one is empty then.
struct EncodedRows {
  std::span<const uint8_t> payload;  // WeightFormat::RowBytes for each row
  std::span<const float> scales;     // WeightFormat::RowScales for each row
};

// Memory of encoded rows, to be used again.
struct EncodedBuffer {
  std::vector<uint8_t> payload;
  std::vector<float> scales;
};

class WeightFormat {
 public:
  virtual ~WeightFormat() = default;

  // In a printed program: "float32".
  virtual const char* name() const = 0;
  // The name that callers give: "f32".
  virtual std::string_view dtype() const = 0;

  // ---- Rows of `width` weights --------------------------------------------------------------------------------------
  virtual int64_t RowBytes(int64_t width) const = 0;
  virtual int64_t RowScales() const { return 0; }
  // The result is valid until `rows` or `buffer` change. kUnsupported: a weight that the format cannot represent.
  virtual Result<EncodedRows> Encode(std::span<const float> rows, int64_t width, EncodedBuffer* buffer) const = 0;
  // The elements of a payload as numbers, without their scales. values.size() of them.
  virtual void Decode(std::span<const uint8_t> payload, std::span<double> values) const = 0;

  // ---- Checkpoints --------------------------------------------------------------------------------------------------
  // The type of a tensor that holds rows in this format, with their scales in another tensor; nullopt: checkpoints hold floats.
  virtual std::optional<DType> file_type() const { return std::nullopt; }
  // kMalformedFile: elements that the format never has.
  virtual Status CheckPayload(std::span<const uint8_t> payload) const { return (void)payload, OkStatus(); }
  // The type in which an embedding table is stored whose tensor is of type `source`. words: it is the table of the words.
  virtual DType TableType(DType source, bool words) const { return (void)words, source; }

  // ---- Products -----------------------------------------------------------------------------------------------------
  // Whether the format can hold such a layer. kUnsupported.
  virtual Status Check(const LinearSpec& spec) const { return (void)spec, OkStatus(); }
  // Activations become integers in [-levels, levels] times a scale for each row. 0 if they stay floats.
  virtual int32_t InputLevels(const LinearSpec& spec) const { return (void)spec, 0; }
  // Whether such a layer has LinearSpec::wide_input without asking.
  virtual bool WidensInput(const LinearSpec& spec) const { return (void)spec, false; }
};

const WeightFormat& FormatOf(Precision precision);
// Null if the name is unknown.
const Precision* FindPrecision(std::string_view dtype);
// The names of all formats as a list for messages: "f32", "f16" or "q8".
std::string PrecisionNames();

// Each in the file of its name.
const WeightFormat& Float32Format();
const WeightFormat& Float16Format();
const WeightFormat& Int8Format();

}  // namespace peruse
