// int8: symmetric weights, with one scale per row (quantize.h). Activations are quantised too, so sums of products are exact integers.
#include <algorithm>
#include <string>

#include "core/base/memory.h"
#include "core/formats/quantize.h"
#include "core/formats/weight_format.h"

namespace peruse {
namespace {

class Int8 final : public WeightFormat {
 public:
  const char* name() const override { return "int8"; }
  std::string_view dtype() const override { return "q8"; }

  int64_t RowBytes(int64_t width) const override { return width; }
  int64_t RowScales(int64_t) const override { return 1; }
  Result<EncodedRows> Encode(std::span<const float> rows, int64_t width, EncodedBuffer* buffer) const override {
    const auto size = static_cast<size_t>(width);
    if (!TryResize(&buffer->payload, rows.size()) || !TryResize(&buffer->scales, rows.size() / size)) {
      return OutOfMemory("no memory for rows of weights");
    }
    auto* const integers = reinterpret_cast<int8_t*>(buffer->payload.data());
    for (size_t row = 0; row < buffer->scales.size(); ++row) {
      buffer->scales[row] = QuantizeRow(rows.subspan(row * size, size), kWeightLevels, integers + row * size);
    }
    return EncodedRows{buffer->payload, buffer->scales};
  }
  void Decode(std::span<const uint8_t> payload, std::span<double> values) const override {
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int8_t>(payload[i]);
  }

  void DecodeRow(const EncodedRows& rows, size_t row, bool, std::span<float> values) const override {
    const uint8_t* const payload = rows.payload.data() + row * values.size();
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(static_cast<int8_t>(payload[i])) * rows.scales[row];
    }
  }

  std::optional<DType> file_type() const override { return DType::kI8; }
  Status CheckPayload(std::span<const uint8_t> payload) const override {
    if (std::find(payload.begin(), payload.end(), uint8_t{0x80}) == payload.end()) return OkStatus();
    return MalformedFile("holds -128, which int8 weights never do");
  }
  DType TableType(DType source, bool words) const override { return words ? DType::kI8 : source; }

  // Sums of products must fit 32-bit integers.
  Status Check(const LinearSpec& spec) const override {
    if (InputLevels(spec) > 0) return OkStatus();
    return Unsupported("dtype q8 takes linear layers of up to 66,572 inputs, not " +
                       std::to_string(spec.in / spec.groups));
  }
  int32_t InputLevels(const LinearSpec& spec) const override {
    return peruse::InputLevels(spec.in / spec.groups, spec.wide_input);
  }
  bool WidensInput(const LinearSpec& spec) const override { return spec.in / spec.groups <= kShallowDepth; }
};

}  // namespace

const WeightFormat& Int8Format() {
  static const Int8 format;
  return format;
}

}  // namespace peruse
