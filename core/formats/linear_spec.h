// What a linear layer is, before it has weights.
#pragma once

#include <cstdint>

namespace peruse {

// The format of a linear layer's weights.
enum class Precision : uint8_t {
  kF32,
  kF16,  // IEEE half where the backend reads it so
  // Symmetric int8 per output channel. Activations are quantised at run time, each row (with groups: each group's slice
  // of it) on its own; sums of products are exact (quantize.h).
  kQ8,
};

struct LinearSpec {
  int32_t in = 0;      // input features
  int32_t out = 0;     // output features
  int32_t groups = 1;  // independent linears over equal slices of the features (ConvBERT's GroupedLinear)
  Precision precision = Precision::kF32;
  bool wide_input = false;  // kQ8: activations of 13 bits instead of 8, where the sums have room (quantize.h)

  bool operator==(const LinearSpec&) const = default;
};

}  // namespace peruse
