#pragma once

#include <cstdint>

#include "core/base/status.h"

namespace peruse {

// Buffers with this number or a higher one are constants; lower numbers are slots of the running plan.
inline constexpr int32_t kFirstConstant = 1 << 30;

// Location of a row-major float32 matrix, or of a block of its columns, in a backend. Does not give access to the values.
struct Tensor {
  int32_t buffer = -1;
  int32_t rows = 0;
  int32_t cols = 0;
  int32_t stride = 0;  // floats from one row to the next
  int64_t first = 0;   // floats from the buffer's start to the first value

  bool valid() const { return buffer >= 0; }

  Tensor Columns(int32_t first_col, int32_t count) const {
    PERUSE_CHECK(first_col >= 0 && count >= 0 && first_col + count <= cols);
    Tensor view = *this;
    view.first += first_col;
    view.cols = count;
    return view;
  }
};

}  // namespace peruse
