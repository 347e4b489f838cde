#include "core/backend/webgpu/gpu_format.h"

#include <cmath>
#include <cstring>

#include "core/base/half.h"
#include "core/formats/quantize.h"

namespace peruse::webgpu {
namespace {

constexpr int64_t kExactFloats = 1 << 24;  // integers up to here are float32s

class Float32 final : public GpuFormat {
 public:
  int32_t element_bytes() const override { return 4; }
  int32_t row_multiple() const override { return 1; }
  Status Encode(std::span<const float> rows, int32_t, int32_t, uint8_t* out) const override {
    std::memcpy(out, rows.data(), rows.size_bytes());
    return OkStatus();
  }
  std::string_view ProductShader(const Limits&, bool aligned) const override {
    return aligned ? "linear_aligned" : "linear";
  }
  Constants ProductConstants(bool) const override { return {{"HALF_WEIGHTS", 0}}; }
  Constants SpanConvConstants() const override { return {{"HALF_WEIGHTS", 0}, {"INT8_WEIGHTS", 0}}; }
};

class Float16 final : public GpuFormat {
 public:
  int32_t element_bytes() const override { return 2; }
  int32_t row_multiple() const override { return 2; }
  Status Encode(std::span<const float> rows, int32_t width, int32_t row_elements, uint8_t* out) const override {
    const size_t count = rows.size() / static_cast<size_t>(width);
    for (size_t r = 0; r < count; ++r) {
      for (int32_t k = 0; k < row_elements; ++k) {
        const float value = k < width ? rows[r * static_cast<size_t>(width) + static_cast<size_t>(k)] : 0;
        const uint16_t half = FloatToHalf(value);
        if ((half & 0x7FFF) == 0x7C00 && std::isfinite(value)) {
          return Unsupported("a weight is larger than float16 holds (65504): use dtype fp32");
        }
        std::memcpy(out, &half, sizeof half);
        out += sizeof half;
      }
    }
    return OkStatus();
  }
  std::string_view ProductShader(const Limits& limits, bool aligned) const override {
    if (limits.shader_f16) return aligned ? "linear_aligned+f16" : "linear+f16";
    return aligned ? "linear_aligned" : "linear";
  }
  Constants ProductConstants(bool) const override { return {{"HALF_WEIGHTS", 1}}; }
  Constants SpanConvConstants() const override { return {{"HALF_WEIGHTS", 1}, {"INT8_WEIGHTS", 0}}; }
};

class Int8 final : public GpuFormat {
 public:
  int32_t element_bytes() const override { return 1; }
  int32_t row_multiple() const override { return kQuantizedMultiple; }
  int32_t elements_counted_as_one() const override { return 4; }
  int32_t column_floats() const override { return 2; }  // and the scale
  Status Encode(std::span<const float>, int32_t, int32_t, uint8_t*) const override {
    PERUSE_CHECK(false);
    return OkStatus();
  }
  std::string_view ProductShader(const Limits& limits, bool) const override {
    return limits.packed_dot ? "linear_q8+dot4" : "linear_q8+bytes";
  }
  Constants ProductConstants(bool wide) const override { return {{"WIDE", wide ? 1.0f : 0.0f}}; }
  Constants SpanConvConstants() const override { return {{"HALF_WEIGHTS", 0}, {"INT8_WEIGHTS", 1}}; }
  // It adds the products up as floats.
  bool FusesSpanConv(const LinearSpec& spec) const override {
    return GpuFormat::FusesSpanConv(spec) && !spec.wide_input && spec.in * kInputLevels * kWeightLevels <= kExactFloats;
  }
};

}  // namespace

const GpuFormat& GpuFormatOf(Precision precision) {
  static const Float32 float32;
  static const Float16 float16;
  static const Int8 int8;
  switch (precision) {
    case Precision::kF32:
      return float32;
    case Precision::kF16:
      return float16;
    case Precision::kQ8:
      return int8;
  }
  return float32;
}

}  // namespace peruse::webgpu
