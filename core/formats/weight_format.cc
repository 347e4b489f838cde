#include "core/formats/weight_format.h"

#include <string>

#include "core/formats/quantize.h"

namespace peruse {

void WeightFormat::Encode(std::span<const float>, int32_t, Int8Rows*) const { PERUSE_CHECK(int8()); }
int32_t WeightFormat::InputLevels(const LinearSpec&) const { return 0; }
Status WeightFormat::Check(const LinearSpec&) const { return OkStatus(); }
DType WeightFormat::TableType(DType source, bool) const { return source; }

namespace {

class Float32 final : public WeightFormat {
 public:
  const char* name() const override { return "float32"; }
};

class Float16 final : public WeightFormat {
 public:
  const char* name() const override { return "float16"; }
  DType TableType(DType source, bool) const override { return source == DType::kF32 ? DType::kF16 : source; }
};

class Int8 final : public WeightFormat {
 public:
  const char* name() const override { return "int8"; }
  bool int8() const override { return true; }

  void Encode(std::span<const float> rows, int32_t width, Int8Rows* encoded) const override {
    encoded->integers.resize(rows.size());
    encoded->scales.clear();
    const auto size = static_cast<size_t>(width);
    for (size_t at = 0; at < rows.size(); at += size) {
      encoded->scales.push_back(QuantizeRow(rows.subspan(at, size), kWeightLevels, encoded->integers.data() + at));
    }
  }

  int32_t InputLevels(const LinearSpec& spec) const override {
    return peruse::InputLevels(spec.in / spec.groups, spec.wide_input);
  }

  // Sums of products have 32 bits.
  Status Check(const LinearSpec& spec) const override {
    if (InputLevels(spec) > 0) return OkStatus();
    return Unsupported("dtype q8 takes linear layers of up to 133,144 inputs, not " +
                       std::to_string(spec.in / spec.groups));
  }

  DType TableType(DType source, bool words) const override { return words ? DType::kI8 : source; }
};

}  // namespace

const WeightFormat& FormatOf(Precision precision) {
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

}  // namespace peruse
