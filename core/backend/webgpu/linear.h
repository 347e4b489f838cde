#pragma once

#include <initializer_list>

#include "core/backend/webgpu/recording.h"
#include "core/backend/webgpu/tiles.h"

namespace peruse::webgpu {

// Parameters of a product's pipeline in addition to those of the tile.
struct Weighted {
  Precision precision = Precision::kF32;
  bool wide = false;  // LinearSpec::wide_input
  // Whether rows of both operands can be read as vec4 and the depth is a multiple of 16; linear_aligned.wgsl then computes the product.
  bool aligned = false;
};

// Whether rows start at multiples of four elements. Known before the batch.
bool ByFour(const Program& program, Value value);
// Returns the parameters for a linear layer's weights. `x_by_four` is ByFour of x.
Weighted WeightedBy(const LinearSpec& spec, bool x_by_four);

void ExpectLinear(Recording& r, const Weighted& by);
// buffers: x, w, bias, combined operand, out
void DispatchLinear(Recording& r, const Weighted& by, const LinearParams& params, uint32_t groups,
                    std::initializer_list<int32_t> buffers);

// x W^T + b for a linear layer.
struct Product {
  Recording::View x;
  bool x_by_four;
  int32_t rows;
  LinearId weight;
  int32_t cols = 0;  // with one group: number of leading outputs; 0 means all
};
struct Combined {
  enum How : uint32_t { kNot, kAdded, kMultiplied } how = kNot;
  Recording::View with;
};
// out = activation(product), then combined with an operand
void Project(Recording& r, const Product& product, Activation activation, const Combined& combined,
             const Recording::View& out);

}  // namespace peruse::webgpu
