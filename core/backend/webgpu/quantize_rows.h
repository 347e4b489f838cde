// Rows of activations as integers, for the operations that multiply them by int8 weights.
#pragma once

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

struct QuantizedRows {
  int32_t buffer = Recorder::kNoBuffer;  // scales, [rows, groups], then words: quantize_rows.wgsl. To be given back
  uint32_t first_word = 0;
  uint32_t groups = 0;
  uint32_t slice_words = 0;  // words of one row's slice of a group; of integers of 13 bits both parts
};

// `rows` rows of x, for a linear of int8 weights.
QuantizedRows QuantizeRows(Recording& r, const Recording::View& x, int32_t rows, const LinearSpec& spec);
void ExpectQuantizeRows(Recording& r);

}  // namespace peruse::webgpu
