#include <cstring>

#include "core/formats/weight_format.h"

namespace peruse {
namespace {

class Float32 final : public WeightFormat {
 public:
  const char* name() const override { return "float32"; }
  std::string_view dtype() const override { return "f32"; }

  int64_t RowBytes(int64_t width) const override { return 4 * width; }
  Result<EncodedRows> Encode(std::span<const float> rows, int64_t, EncodedBuffer*) const override {
    return EncodedRows{{reinterpret_cast<const uint8_t*>(rows.data()), rows.size_bytes()}, {}};
  }
  void Decode(std::span<const uint8_t> payload, std::span<double> values) const override {
#pragma clang loop vectorize(disable) unroll(disable)
    for (size_t i = 0; i < values.size(); ++i) {  // optimised for code size: only the reference backend decodes
      float value;
      std::memcpy(&value, &payload[4 * i], sizeof value);
      values[i] = static_cast<double>(value);
    }
  }
};

}  // namespace

const WeightFormat& Float32Format() {
  static const Float32 format;
  return format;
}

}  // namespace peruse
