#include "core/backend/webgpu/gpu_format.h"

#include "core/base/status.h"

namespace peruse::webgpu {
namespace {

std::string_view FloatShader(const Limits&, bool aligned) { return aligned ? "linear_aligned" : "linear"; }
std::string_view Int8Shader(const Limits& limits, bool) {
  return limits.packed_dot ? "linear_q8+dot4" : "linear_q8+bytes";
}

constexpr GpuFormat kFormats[] = {
    {.precision = Precision::kF32,
     .element_bytes = 4,
     .row_multiple = 1,
     .elements_counted_as_one = 1,
     .quantizes_input = false,
     .product_shader = FloatShader,
     .product_constants = [](bool) { return Constants{{"HALF_WEIGHTS", 0}}; },
     .fuses_span_conv = true},
    {.precision = Precision::kF16,
     .element_bytes = 2,
     .row_multiple = 2,
     .elements_counted_as_one = 1,
     .quantizes_input = false,
     .product_shader = FloatShader,
     .product_constants = [](bool) { return Constants{{"HALF_WEIGHTS", 1}}; },
     .fuses_span_conv = true},
    {.precision = Precision::kQ8,
     .element_bytes = 1,
     .row_multiple = kQuantizedMultiple,
     .elements_counted_as_one = 4,
     .quantizes_input = true,
     .product_shader = Int8Shader,
     .product_constants = [](bool wide) { return Constants{{"WIDE", wide ? 1.0f : 0.0f}}; },
     .fuses_span_conv = false},
};

}  // namespace

const GpuFormat& GpuFormatOf(Precision precision) {
  for (const GpuFormat& format : kFormats) {
    if (format.precision == precision) return format;
  }
  PERUSE_CHECK(false);
  return kFormats[0];
}

}  // namespace peruse::webgpu
