// How the GPU backend holds each weight format, and which shaders multiply with it: a row of a table for each format.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/backend/webgpu/recorder.h"
#include "core/formats/linear_spec.h"

namespace peruse::webgpu {

// Rows of int8 weights and activations are filled up to a multiple of this: the depth of a tile of linear_q8.wgsl, 16 words.
inline constexpr int32_t kQuantizedMultiple = 64;

struct GpuFormat {
  Precision precision;

  // ---- Memory -------------------------------------------------------------------------------------------------------
  int32_t element_bytes;
  int32_t row_multiple;             // rows are filled up with zeros to a multiple of this number of elements
  int32_t elements_counted_as_one;  // elements of a row that a shader counts as one

  // ---- Shaders ------------------------------------------------------------------------------------------------------
  // Whether activations are quantised first (quantize_rows.h).
  bool quantizes_input;
  // aligned: of operands that can be read by four (linear.h).
  std::string_view (*product_shader)(const Limits& limits, bool aligned);
  // What its pipeline depends on in addition to the tile. wide: LinearSpec::wide_input.
  Constants (*product_constants)(bool wide);
  // The same of linear_span_conv.wgsl.
  Constants (*span_conv_constants)();
  // Whether linear_span_conv.wgsl computes the logits of such a layer exactly as the product would.
  bool (*fuses_span_conv)(const LinearSpec& spec);
};

const GpuFormat& GpuFormatOf(Precision precision);

}  // namespace peruse::webgpu
