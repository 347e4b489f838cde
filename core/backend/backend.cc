#include "core/backend/backend.h"

namespace peruse {

Status CheckSpec(const LinearSpec& spec) {
  PERUSE_CHECK(spec.in > 0 && spec.out > 0 && spec.groups > 0);
  PERUSE_CHECK(spec.in % spec.groups == 0 && spec.out % spec.groups == 0);
  return FormatOf(spec.precision).Check(spec);
}

void CheckRows(const LinearSpec& spec, int32_t first_row, const EncodedRows& rows) {
  const WeightFormat& format = FormatOf(spec.precision);
  const int64_t left = spec.out - first_row;
  PERUSE_CHECK(first_row >= 0 && left >= 0);
  const auto check = [left](int64_t size, int64_t of_row) {
    PERUSE_CHECK(size == 0 || (of_row > 0 && size % of_row == 0 && size / of_row <= left));
  };
  check(std::ssize(rows.payload), format.RowBytes(spec.in / spec.groups));
  check(std::ssize(rows.scales), format.RowScales(spec.in / spec.groups));
}

Status WriteFloats(Backend& backend, Weight weight, const LinearSpec& spec, int32_t first_row,
                   std::span<const float> rows, EncodedBuffer* buffer) {
  PERUSE_ASSIGN_OR_RETURN(const EncodedRows encoded,
                          FormatOf(spec.precision).Encode(rows, spec.in / spec.groups, buffer));
  return backend.WriteRows(weight, first_row, encoded);
}

}  // namespace peruse
