// How the GPU backend holds each weight format, and which shaders multiply with it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/backend/webgpu/recorder.h"
#include "core/base/status.h"
#include "core/formats/linear_spec.h"

namespace peruse::webgpu {

// Of int8, rows of weights and of activations: the depth of a tile of linear_q8.wgsl, 16 words.
inline constexpr int32_t kQuantizedMultiple = 64;

class GpuFormat {
 public:
  virtual ~GpuFormat() = default;

  // ---- Memory -------------------------------------------------------------------------------------------------------

  virtual int32_t element_bytes() const = 0;
  // Rows are filled up to a multiple of so many elements.
  virtual int32_t row_multiple() const = 0;
  // Elements of a row that a shader counts as one.
  virtual int32_t elements_counted_as_one() const { return 1; }
  // Floats that go with each row: the bias, then what else there is.
  virtual int32_t column_floats() const { return 1; }
  // Rows of `width` floats as rows of `row_elements` elements. Not for int8. kUnsupported.
  virtual Status Encode(std::span<const float> rows, int32_t width, int32_t row_elements, uint8_t* out) const = 0;

  // ---- Shaders ------------------------------------------------------------------------------------------------------

  // aligned: of operands that can be read by four (linear.h).
  virtual std::string_view ProductShader(const Limits& limits, bool aligned) const = 0;
  // What its pipeline depends on beside the tile. wide: LinearSpec::wide_input.
  virtual Constants ProductConstants(bool wide) const = 0;
  // The same of linear_span_conv.wgsl.
  virtual Constants SpanConvConstants() const = 0;
  // Whether linear_span_conv.wgsl makes the logits of such a layer exactly as the product would.
  virtual bool FusesSpanConv(const LinearSpec& spec) const { return spec.groups == 1; }
};

const GpuFormat& GpuFormatOf(Precision precision);

}  // namespace peruse::webgpu
