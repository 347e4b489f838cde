#include "core/formats/weight_format.h"

#include <string>

namespace peruse {
namespace {

struct Row {
  Precision precision;
  const WeightFormat& (*format)();
  Precision linears;
};

constexpr Row kFormats[] = {
    {Precision::kF32, Float32Format, Precision::kF32},
    {Precision::kF16, Float16Format, Precision::kF16},
    {Precision::kQ8, Int8Format, Precision::kQ8},
    {Precision::kQ4, Int4Format, Precision::kQ8},
};

const Row& RowOf(Precision precision) {
  for (const Row& row : kFormats) {
    if (row.precision == precision) return row;
  }
  PERUSE_CHECK(false);
  return kFormats[0];
}

}  // namespace

const WeightFormat& FormatOf(Precision precision) { return RowOf(precision).format(); }

Precision LinearPrecision(Precision precision, const LinearSpec& spec) {
  return FormatOf(precision).KeepsLinear(spec) ? precision : LinearFallback(precision);
}

Precision StoredPrecision(const LinearSpec& spec, const WeightFormat& stored) {
  if (&FormatOf(spec.precision).linear_format() != &stored.linear_format()) return spec.precision;
  return *FindPrecision(stored.dtype());
}

Precision LinearFallback(Precision precision) { return RowOf(precision).linears; }

const WeightFormat* FormatOfFile(DType type) {
  for (const Row& row : kFormats) {
    if (row.format().file_type() == type) return &row.format();
  }
  return nullptr;
}

const Precision* FindPrecision(std::string_view dtype) {
  for (const Row& row : kFormats) {
    if (row.format().dtype() == dtype) return &row.precision;
  }
  return nullptr;
}

std::string PrecisionNames() {
  std::string names;
  for (const Row& row : kFormats) {
    const bool last = &row == std::end(kFormats) - 1;
    names += (names.empty() ? "\"" : last ? " or \"" : ", \"") + std::string(row.format().dtype()) + "\"";
  }
  return names;
}

}  // namespace peruse
