#pragma once

#include <initializer_list>

#include "core/backend/webgpu/recording.h"
#include "core/backend/webgpu/tiles.h"

namespace peruse::webgpu {

// Parameters of a product's pipeline in addition to those of the tile.
struct LinearPipeline {
  Precision precision = Precision::kF32;
  bool wide = false;  // LinearSpec::wide_input
  // Whether rows of both operands can be read as vec4 and the depth is a multiple of 16; linear_aligned.wgsl then computes the product.
  bool aligned = false;
};

// Whether every row of the value starts at a multiple of four elements, so that shaders can read vec4. Does not depend on the batch.
bool ReadsVec4(const Program& program, Value value);
// Returns the pipeline parameters for a linear layer's weights. `x_reads_vec4` is ReadsVec4 of the input x.
LinearPipeline PipelineFor(const LinearSpec& spec, bool x_reads_vec4);

void ExpectLinear(Recording& r, const LinearPipeline& pipeline);
// Buffers: x, w, bias, combined operand, out.
void DispatchLinear(Recording& r, const LinearPipeline& pipeline, const LinearParams& params, uint32_t groups,
                    std::initializer_list<int32_t> buffers);

// Operands of a product x W^T + b, where W and b belong to a linear layer.
struct Product {
  Recording::View x;
  bool x_reads_vec4;
  int32_t rows;
  LinearId weight;
  // If there is one group: the number of outputs to compute from `first` on; 0 means all.
  int32_t cols = 0;
  int32_t first = 0;
};
struct Combined {
  enum How : uint32_t { kNot, kAdded, kMultiplied } how = kNot;
  Recording::View with;
};
// out = activation(product), then combined with another operand (Combined).
void Project(Recording& r, const Product& product, Activation activation, const Combined& combined,
             const Recording::View& out);

// Input of a layer norm: x + y. If a product was split into slices (Product), x contains them, `rows` rows each, and the sum includes the
// product's bias.
struct NormSum {
  Recording::View x;
  int32_t slices = 1;
  int32_t slice_bias = Recorder::kNoBuffer;
  const Recording::View* y = nullptr;  // optional
};
void ExpectNorm(Recording& r);
void Normalise(Recording& r, const NormSum& sum, const NormArgs& norm, Tensor out);

}  // namespace peruse::webgpu
