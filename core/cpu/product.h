// Matrix products of a training step. Operands may have any memory order; results may be added.
#pragma once

#include <cstdint>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/cpu/block.h"

namespace peruse::cpu {

// Packs both operands in cache-sized blocks (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008). Adds in
// ascending order of k, whatever the block, so that a result does not depend on its neighbours.
class Products {
 public:
  Status Allocate();

  // Computes c[m, n] = a[m, k] b[k, n], or with `add` c[m, n] += a[m, k] b[k, n].
  void Run(int64_t m, int64_t n, int64_t k, const Operand& a, const Operand& b, float* c, int64_t c_stride, bool add);

 private:
  FloatBuffer a_;
  FloatBuffer b_;
};

}  // namespace peruse::cpu
