#pragma once

#include <cstdint>
#include <span>

namespace peruse {

// Returns the metric C of the ConvBERT paper (Jiang et al., 2020, section 3.1): the attention weight within four positions of the diagonal,
// divided by the weight outside. Higher means more local; infinite if length <= 5. `map` has `length` rows of `stride` floats; the first
// `length` floats count.
double DiagonalConcentration(std::span<const float> map, int32_t length, int32_t stride);

}  // namespace peruse
