#pragma once

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

struct QuantizedRows {
  int32_t buffer =
      Recorder::kNoBuffer;  // scales [rows, groups], then words (quantize_rows.wgsl); the caller must return it
  uint32_t first_word = 0;
  uint32_t groups = 0;
  uint32_t slice_words = 0;  // words of a row's slice of a group; for 13-bit integers those of high and low parts
};

QuantizedRows QuantizeRows(Recording& r, const Recording::View& x, int32_t rows, const LinearSpec& spec);
void ExpectQuantizeRows(Recording& r);

}  // namespace peruse::webgpu
