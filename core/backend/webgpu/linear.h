// Products with weights, for the operations that make some.
#pragma once

#include <initializer_list>

#include "core/backend/webgpu/recording.h"

namespace peruse::webgpu {

// What the pipeline of a product depends on, beside the tile.
struct Weighted {
  Precision precision = Precision::kF32;
  bool wide = false;  // LinearSpec::wide_input
};

// Names the pipelines of a product of that many columns.
void ExpectLinear(Recording& r, const Weighted& by, int32_t width);
void ExpectLinear(Recording& r, const LinearSpec& spec);
// buffers: x, w, bias, what it is combined with, out
void DispatchLinear(Recording& r, const Weighted& by, const LinearParams& params, uint32_t groups,
                    std::initializer_list<int32_t> buffers);

// What happens to a product on its way out.
struct Combined {
  enum How : uint32_t { kNot, kAdded, kMultiplied } how = kNot;
  Recording::View with;
};
// out = activation(x W^T + b), combined
void Project(Recording& r, const Recording::View& x, int32_t rows, LinearId weight, Activation activation,
             const Combined& combined, const Recording::View& out);

}  // namespace peruse::webgpu
