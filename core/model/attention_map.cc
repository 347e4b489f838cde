#include "core/model/attention_map.h"

#include <cstdlib>
#include <limits>

#include "core/base/status.h"

namespace peruse {

double DiagonalConcentration(std::span<const float> map, int32_t length, int32_t stride) {
  constexpr int32_t kHalfWidth = 4;
  PERUSE_CHECK(length > 0 && length <= stride);
  PERUSE_CHECK(map.size() + static_cast<size_t>(stride - length) >=
               static_cast<size_t>(length) * static_cast<size_t>(stride));
  double inside = 0;
  double outside = 0;
  for (int32_t i = 0; i < length; ++i) {
    const std::span<const float> row =
        map.subspan(static_cast<size_t>(i) * static_cast<size_t>(stride), static_cast<size_t>(length));
    for (int32_t j = 0; j < length; ++j) {
      (std::abs(i - j) <= kHalfWidth ? inside : outside) += static_cast<double>(row[static_cast<size_t>(j)]);
    }
  }
  return outside > 0 ? inside / outside : std::numeric_limits<double>::infinity();
}

}  // namespace peruse
