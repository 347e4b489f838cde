// Products with weights, for the operations that make some.
#pragma once

#include <initializer_list>

#include "core/backend/webgpu/recording.h"
#include "core/backend/webgpu/tiles.h"

namespace peruse::webgpu {

// What the pipeline of a product depends on, beside the tile.
struct Weighted {
  Precision precision = Precision::kF32;
  bool wide = false;     // LinearSpec::wide_input
  bool aligned = false;  // rows of both operands can be read by four, and the depth by 16: linear_aligned.wgsl
};

// Whether rows begin at a multiple of four elements: known before there is a batch.
bool ByFour(const Program& program, Value value);
// By the weights of a linear; x_by_four: rows of x begin so.
Weighted WeightedBy(const LinearSpec& spec, bool x_by_four);

// Names the pipelines of a product: one for each shape of a tile.
void ExpectLinear(Recording& r, const Weighted& by);
// buffers: x, w, bias, what it is combined with, out
void DispatchLinear(Recording& r, const Weighted& by, const LinearParams& params, uint32_t groups,
                    std::initializer_list<int32_t> buffers);

// x W^T + b for a linear layer.
struct Product {
  Recording::View x;
  bool x_by_four;
  int32_t rows;
  LinearId weight;
  int32_t cols = 0;  // of one group the first outputs; 0: all
};
// What happens to it on its way out.
struct Combined {
  enum How : uint32_t { kNot, kAdded, kMultiplied } how = kNot;
  Recording::View with;
};
// out = activation(product), combined
void Project(Recording& r, const Product& product, Activation activation, const Combined& combined,
             const Recording::View& out);

}  // namespace peruse::webgpu
