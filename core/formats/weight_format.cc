#include "core/formats/weight_format.h"

#include <string>

namespace peruse {
namespace {

struct Row {
  Precision precision;
  const WeightFormat& (*format)();
};

constexpr Row kFormats[] = {
    {Precision::kF32, Float32Format},
    {Precision::kF16, Float16Format},
    {Precision::kQ8, Int8Format},
};

}  // namespace

const WeightFormat& FormatOf(Precision precision) {
  for (const Row& row : kFormats) {
    if (row.precision == precision) return row.format();
  }
  PERUSE_CHECK(false);
  return Float32Format();
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
