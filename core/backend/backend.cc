#include "core/backend/backend.h"

namespace peruse {

Status CheckSpec(const LinearSpec& spec) {
  PERUSE_CHECK(spec.in > 0 && spec.out > 0 && spec.groups > 0);
  PERUSE_CHECK(spec.in % spec.groups == 0 && spec.out % spec.groups == 0);
  return FormatOf(spec.precision).Check(spec);
}

void CheckRows(const LinearSpec& spec, bool int8, int32_t first_row, size_t values, int64_t width) {
  PERUSE_CHECK(FormatOf(spec.precision).int8() == int8);
  const int64_t count = static_cast<int64_t>(values);
  PERUSE_CHECK(first_row >= 0 && count % width == 0 && first_row + count / width <= spec.out);
}

Status WriteFloats(Backend& backend, Weight weight, const LinearSpec& spec, int32_t first_row,
                   std::span<const float> rows, Int8Rows* encoded) {
  const WeightFormat& format = FormatOf(spec.precision);
  if (!format.int8()) return backend.WriteLinear(weight, first_row, rows);
  format.Encode(rows, spec.in / spec.groups, encoded);
  PERUSE_RETURN_IF_ERROR(backend.WriteScales(weight, first_row, encoded->scales));
  return backend.WriteInt8(weight, first_row, encoded->integers);
}

}  // namespace peruse
