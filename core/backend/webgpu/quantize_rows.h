#pragma once

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

struct QuantizedRows {
  // Contains scales and offsets, [rows, groups, 2], then the quantised words (quantize_rows.wgsl). The caller must give it back.
  int32_t buffer = Recorder::kNoBuffer;
  uint32_t first_word = 0;
  uint32_t groups = 0;
  // Words of a row's slice of one group; for 13-bit integers separately for high and low parts.
  uint32_t slice_words = 0;
};

QuantizedRows QuantizeRows(Recording& r, const Recording::View& x, int32_t rows, const LinearSpec& spec);
void ExpectQuantizeRows(Recording& r);

}  // namespace peruse::webgpu
