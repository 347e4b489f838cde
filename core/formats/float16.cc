#include <cmath>
#include <cstring>

#include "core/base/half.h"
#include "core/base/memory.h"
#include "core/formats/quantize.h"
#include "core/formats/weight_format.h"

namespace peruse {
namespace {

constexpr float kFirstInfinite = 65520;  // this value and larger ones round to infinity

class Float16 final : public WeightFormat {
 public:
  const char* name() const override { return "float16"; }
  std::string_view dtype() const override { return "f16"; }

  int64_t RowBytes(int64_t width) const override { return 2 * width; }
  Result<EncodedRows> Encode(std::span<const float> rows, int64_t, EncodedBuffer* buffer) const override {
    if (LargestMagnitude(rows) >= std::bit_cast<uint32_t>(kFirstInfinite)) {
      return Unsupported("a weight is larger than float16 holds (65504): use dtype fp32");
    }
    if (!TryResize(&buffer->payload, 2 * rows.size())) return OutOfMemory("no memory for rows of weights");
    auto* const halves = reinterpret_cast<uint16_t*>(buffer->payload.data());
    for (size_t i = 0; i < rows.size(); ++i) halves[i] = FloatToHalf(rows[i]);
    return EncodedRows{buffer->payload, {}};
  }
  void Decode(std::span<const uint8_t> payload, std::span<double> values) const override {
#pragma clang loop vectorize(disable) unroll(disable)
    for (size_t i = 0; i < values.size(); ++i) {  // optimised for code size: only the reference backend decodes
      uint16_t half;
      std::memcpy(&half, &payload[2 * i], sizeof half);
      values[i] = static_cast<double>(HalfToFloat(half));
    }
  }

  DType TableType(DType source, bool) const override { return source == DType::kF32 ? DType::kF16 : source; }
};

}  // namespace

const WeightFormat& Float16Format() {
  static const Float16 format;
  return format;
}

}  // namespace peruse
