// GPU layout and shaders of each weight format: a table with a row per format.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/backend/webgpu/recorder.h"
#include "core/formats/linear_spec.h"

namespace peruse::webgpu {

// Row length multiple of int8 weights and activations: the depth of a tile of linear_q8.wgsl, 16 words.
inline constexpr int32_t kQuantizedMultiple = 64;

struct GpuFormat {
  Precision precision;

  // ---- Memory -------------------------------------------------------------------------------------------------------
  int32_t element_bytes;
  int32_t row_multiple;             // rows are zero-padded to a multiple of this number of elements
  int32_t elements_counted_as_one;  // elements per addressing unit of the shader

  // ---- Shaders ------------------------------------------------------------------------------------------------------
  // Whether activations are quantised first (quantize_rows.h).
  bool quantizes_input;
  // `aligned` means that operands can be read as vec4 (linear.h).
  std::string_view (*product_shader)(const Limits& limits, bool aligned);
  // Pipeline constants in addition to the tile's. `wide` is LinearSpec::wide_input.
  Constants (*product_constants)(bool wide);
  // The same for linear_span_conv.wgsl.
  Constants (*span_conv_constants)();
  // Whether linear_span_conv.wgsl computes a layer's logits exactly like the product.
  bool (*fuses_span_conv)(const LinearSpec& spec);
};

const GpuFormat& GpuFormatOf(Precision precision);

}  // namespace peruse::webgpu
