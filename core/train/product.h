// Matrix products of a training step: operands in any order of rows and columns, results that may be added to.
#pragma once

#include <cstdint>

#include "core/base/float_buffer.h"
#include "core/base/status.h"

namespace peruse::train {

// Element (r, c) lies at data[r * row_stride + c * col_stride].
struct Operand {
  const float* data;
  int64_t row_stride;
  int64_t col_stride;

  Operand Transposed() const { return {data, col_stride, row_stride}; }
};

// Both operands are packed in blocks that stay in the caches (Goto and van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008), since neither lasts longer than a step. Sums run in ascending order of k whatever the block is in,
// so that a result does not depend on its neighbours.
class Products {
 public:
  // Memory for the blocks.
  Status Allocate();

  // c[m, n] = a[m, k] b[k, n], or, with `add`, plus what c holds.
  void Run(int64_t m, int64_t n, int64_t k, const Operand& a, const Operand& b, float* c, int64_t c_stride, bool add);

 private:
  FloatBuffer a_;
  FloatBuffer b_;
};

}  // namespace peruse::train
