// Handles to matrices that a backend owns. A handle says where and how large; it never gives values.
#pragma once

#include <cstdint>

#include "core/base/status.h"

namespace peruse {

// A row-major float32 matrix in a backend's workspace, or a block of columns of one.
struct Tensor {
  int32_t buffer = -1;  // which buffer of the backend
  int32_t rows = 0;
  int32_t cols = 0;
  int32_t stride = 0;     // floats from one row to the next
  int32_t first_col = 0;  // floats from the row's start to the first column

  bool valid() const { return buffer >= 0; }

  // The columns [first, first + count) of this tensor, without copying.
  Tensor Columns(int32_t first, int32_t count) const {
    PERUSE_CHECK(first >= 0 && count >= 0 && first + count <= cols);
    Tensor view = *this;
    view.first_col += first;
    view.cols = count;
    return view;
  }
};

}  // namespace peruse
