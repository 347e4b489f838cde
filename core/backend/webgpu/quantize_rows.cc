#include "core/backend/webgpu/quantize_rows.h"

#include <algorithm>

#include "core/backend/webgpu/gpu_format.h"
#include "core/formats/quantize.h"

namespace peruse::webgpu {

QuantizedRows QuantizeRows(Recording& r, const Recording::View& x, int32_t rows, const LinearSpec& spec) {
  const int32_t depth = spec.in / spec.groups;
  const int32_t words = static_cast<int32_t>(CeilDivide(depth, kQuantizedMultiple)) * (kQuantizedMultiple / 4);
  const int32_t slice_words = spec.wide_input ? 2 * words : words;
  // A slice's scale and offset take a word each. The quantised values after them start at a multiple of four words.
  const Recording::View out = r.TakeMatrix(rows, spec.groups * (slice_words + 4));
  if (r.failed()) return {};
  const QuantizedRows quantized = {.buffer = out.buffer,
                                   .first_word = CeilDivide(int64_t{rows} * spec.groups, 2) * 4,
                                   .groups = static_cast<uint32_t>(spec.groups),
                                   .slice_words = static_cast<uint32_t>(slice_words)};
  const QuantizeRowsParams params = {.rows = static_cast<uint32_t>(rows),
                                     .groups = quantized.groups,
                                     .depth = static_cast<uint32_t>(depth),
                                     .x = x.place,
                                     .levels = static_cast<uint32_t>(InputLevels(depth, spec.wide_input)),
                                     .first_word = quantized.first_word,
                                     .words = static_cast<uint32_t>(words),
                                     .wide = spec.wide_input};
  const uint32_t most = r.recorder().limits().workgroups_per_dimension;
  r.recorder().Dispatch("quantize_rows", {}, params, {x.buffer, out.buffer},
                        {std::min(params.rows * params.groups, most), 1, 1});
  return quantized;
}

void ExpectQuantizeRows(Recording& r) { r.recorder().Expect("quantize_rows", {}); }

}  // namespace peruse::webgpu
