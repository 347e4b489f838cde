#include "core/backend/backend.h"

#include "core/formats/quantize.h"

namespace peruse {

void CheckSpec(const LinearSpec& spec) {
  PERUSE_CHECK(spec.in > 0 && spec.out > 0 && spec.groups > 0);
  PERUSE_CHECK(spec.in % spec.groups == 0 && spec.out % spec.groups == 0);
}

Status CheckInt8Depth(const LinearSpec& spec) {
  if (spec.precision != Precision::kQ8 || InputLevels(spec.in / spec.groups, spec.wide_input) > 0) return OkStatus();
  return Unsupported("dtype q8 takes linear layers of up to 133,144 inputs, not " +
                     std::to_string(spec.in / spec.groups));
}

void CheckRows(const LinearSpec& spec, bool int8, int32_t first_row, size_t values, int64_t width) {
  PERUSE_CHECK((spec.precision == Precision::kQ8) == int8);
  const int64_t count = static_cast<int64_t>(values);
  PERUSE_CHECK(first_row >= 0 && count % width == 0 && first_row + count / width <= spec.out);
}

}  // namespace peruse
