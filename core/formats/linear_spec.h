#pragma once

#include <cstdint>

namespace peruse {

enum class Precision : uint8_t {
  kF32,
  kF16,  // IEEE 754 binary16, on backends that support it
  // Symmetric int8 per output channel. Activations are quantised at run time, with one scale per row (per row and group in grouped layers).
  // Sums of products are exact (quantize.h).
  kQ8,
  // 4 bits in groups of 32 with a scale for each (int4.h), for token embeddings, wide linear layers and experts; products sum int8 integers, as those
  // of kQ8, which all other linear layers of such a model have.
  kQ4,
};

struct LinearSpec {
  int32_t in = 0;
  int32_t out = 0;
  int32_t groups = 1;  // independent linear layers over equal slices of the features (ConvBERT's GroupedLinear)
  Precision precision = Precision::kF32;
  bool wide_input = false;  // kQ8: 13-bit instead of 8-bit activations, if the sums cannot overflow (quantize.h)
  bool experts = false;     // the layers of many experts, stacked by outputs: most weights of their model

  bool operator==(const LinearSpec&) const = default;
};

}  // namespace peruse
