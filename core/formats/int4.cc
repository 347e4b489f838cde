#include "core/formats/int4.h"

#include <array>
#include <cmath>
#include <cstring>

#include "core/base/half.h"
#include "core/base/memory.h"
#include "core/formats/quantize.h"
#include "core/formats/weight_format.h"

namespace peruse {
namespace {

// Loading a model in this precision passes its weights through these loops, so they are written for vectorization.

// Returns the scale, a float16: one eighth of the value with the largest magnitude, with the opposite sign. The first of two values decides.
float Int4Scale(const float* group) {
  const Extremes extremes = ExtremesOf({group, kInt4Group});
  float extreme = extremes.highest > -extremes.lowest ? extremes.highest : extremes.lowest;
  if (extremes.highest == -extremes.lowest) {
    extreme = *std::find_if(group, group + kInt4Group - 1, [=](float v) { return std::fabs(v) == extremes.highest; });
    extreme += 0.0f;  // a negative zero gives the scale of a positive one
  }
  return HalfToFloat(FloatToHalf(extreme * -0.125f));
}

void QuantizeInt4Group(const float* group, float scale, uint8_t* out) {
  const float inverse = scale == 0 ? 0 : 1 / scale;
  std::array<uint8_t, kInt4Group> codes;
  for (size_t k = 0; k < codes.size(); ++k) {
    // 32 bits, so that compilers vectorize the loop.
    const auto q = static_cast<int32_t>(std::nearbyint(group[k] * inverse)) + 8;
    codes[k] = static_cast<uint8_t>(std::clamp(q, 0, 15));
  }
  std::array<uint16_t, kInt4Group / 2> pairs;
  std::memcpy(pairs.data(), codes.data(), codes.size());
  for (size_t k = 0; k < pairs.size(); ++k) out[k] = static_cast<uint8_t>(pairs[k] | pairs[k] >> 4);
}

class Int4 final : public WeightFormat {
 public:
  const char* name() const override { return "int4"; }
  std::string_view dtype() const override { return "q4"; }

  int64_t RowBytes(int64_t width) const override { return Int4Groups(width) * kInt4GroupBytes; }
  int64_t RowScales(int64_t width) const override { return Int4Groups(width); }
  int64_t RowMemory(int64_t width) const override {  // the groups' multipliers, and the scale of the row
    return RowBytes(width) + RowScales(width) * int64_t{sizeof(int16_t)} + int64_t{sizeof(float)};
  }
  Result<EncodedRows> Encode(std::span<const float> rows, int64_t width, EncodedBuffer* buffer) const override {
    const auto size = static_cast<size_t>(width), groups = static_cast<size_t>(Int4Groups(width));
    const size_t count = rows.size() / size * groups;
    if (!TryResize(&buffer->payload, count * kInt4GroupBytes) || !TryResize(&buffer->scales, count)) {
      return OutOfMemory("no memory for rows of weights");
    }
    for (size_t i = 0; i < count; ++i) {
      const size_t from = i % groups * kInt4Group;
      const float* group = rows.data() + i / groups * size + from;
      std::array<float, kInt4Group> filled;
      if (size - from < kInt4Group) {
        filled.fill(0);
        std::copy_n(group, size - from, filled.begin());
        group = filled.data();
      }
      const float scale = Int4Scale(group);
      if (!std::isfinite(scale)) return Unsupported("a weight is too large for 4 bits: its scale must fit float16");
      buffer->scales[i] = scale;
      QuantizeInt4Group(group, scale, buffer->payload.data() + i * kInt4GroupBytes);
    }
    return EncodedRows{buffer->payload, buffer->scales};
  }
  // Decodes whole groups.
  void Decode(std::span<const uint8_t> payload, std::span<double> values) const override {
    for (size_t i = 0; i < values.size(); ++i) values[i] = ((payload[i / 2] >> (i % 2 * 4)) & 15) - 8;
  }

  const WeightFormat& linear_format() const override { return Int8Format(); }
  bool KeepsLinear(const LinearSpec& spec) const override {
    if (spec.experts) return true;
    return spec.in / spec.groups >= kInt4LeastWidth && spec.out / spec.groups >= kInt4LeastWidth;
  }
  // As for int8, whose integers the products sum.
  Status Check(const LinearSpec& spec) const override { return Int8Format().Check(spec); }
  int32_t InputLevels(const LinearSpec& spec) const override { return Int8Format().InputLevels(spec); }
  bool WidensInput(const LinearSpec& spec) const override { return Int8Format().WidensInput(spec); }
  double Integers(std::span<const double> scales, std::span<double> row) const override {
    std::vector<int16_t> multipliers(scales.size());
    const auto scale = [scales](int64_t group) { return static_cast<float>(scales[static_cast<size_t>(group)]); };
    const float of_row = Int4Multipliers(std::ssize(scales), scale, multipliers.data(), 1);
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = Int4Integer(static_cast<int32_t>(row[i]), multipliers[i / kInt4Group]);
    }
    return of_row;
  }
  void DecodeRow(const EncodedRows& rows, size_t row, bool multiplied, std::span<float> values) const override {
    const auto groups = static_cast<size_t>(Int4Groups(std::ssize(values)));
    const float* const scales = rows.scales.data() + row * groups;
    const uint8_t* const payload = rows.payload.data() + row * groups * kInt4GroupBytes;
    const auto scale = [scales](int64_t group) { return scales[group]; };
    std::fill(values.begin(), values.end(), 0.0f);
    if (!multiplied) return AddInt4Row(payload, scale, values);
    AddInt4Row(payload, [](int64_t) { return 1.0f; }, values);
    std::vector<int16_t> multipliers(groups);
    const float of_row = Int4Multipliers(std::ssize(multipliers), scale, multipliers.data(), 1);
    for (size_t i = 0; i < values.size(); ++i) {
      const int32_t integer = Int4Integer(static_cast<int32_t>(values[i]), multipliers[i / kInt4Group]);
      values[i] = static_cast<float>(integer) * of_row;
    }
  }

  std::optional<DType> file_type() const override { return DType::kU8; }
  DType scale_type() const override { return DType::kF16; }
  std::vector<int64_t> FileShape(std::span<const int64_t> shape) const override {
    return {shape[0], RowBytes(WidthOf(shape))};
  }
  std::vector<int64_t> ScaleShape(std::span<const int64_t> shape) const override {
    return {shape[0], RowScales(WidthOf(shape))};
  }
  DType TableType(DType source, bool words) const override { return words ? DType::kU8 : source; }

 private:
  static int64_t WidthOf(std::span<const int64_t> shape) {
    int64_t width = 1;
    for (const int64_t size : shape.subspan(1)) width *= size;
    return width;
  }
};

}  // namespace

const WeightFormat& Int4Format() {
  static const Int4 format;
  return format;
}

}  // namespace peruse
