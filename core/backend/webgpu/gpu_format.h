// Layout and shaders of each weight format, as a table with one row per format.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/backend/webgpu/recorder.h"
#include "core/formats/linear_spec.h"

namespace peruse::webgpu {

// Rows of int8 weights and activations are multiples of this: the depth of a tile in linear_q8.wgsl, 16 words.
inline constexpr int32_t kQuantizedMultiple = 64;

struct GpuFormat {
  Precision precision;

  int32_t element_bytes;
  int32_t row_multiple;             // rows of weights are zero-padded to a multiple of this many elements
  int32_t elements_counted_as_one;  // the shader addresses this many elements as one unit

  // Whether activations are quantised first (quantize_rows.wgsl). The layer's biases are then followed by scales and sums of its rows' weights.
  bool quantizes_input;
  // Returns the name of the product's shader. `aligned`: operands can be read as vec4 (linear.h).
  std::string_view (*product_shader)(const Limits& limits, bool aligned);
  // Returns pipeline constants in addition to those of the tile. `wide` is LinearSpec::wide_input.
  Constants (*product_constants)(bool wide);
  // Whether linear_span_conv.wgsl can multiply by the weights.
  bool fuses_span_conv;
};

const GpuFormat& GpuFormatOf(Precision precision);

}  // namespace peruse::webgpu
