#pragma once

#include <cstdint>
#include <span>

namespace peruse {

// The diagonal-concentration metric C of the ConvBERT paper (Jiang et al., 2020, section 3.1): the weight within four positions of the
// diagonal over the weight outside. Higher means more local; infinite when nothing is outside, as for length <= 5. `map` has `length` rows
// of `stride` floats, of which the first `length` count.
double DiagonalConcentration(std::span<const float> map, int32_t length, int32_t stride);

}  // namespace peruse
