// Linear layers: packed weights, and the loop over panels and rows around the GEMM kernels.
#pragma once

#include <cstdint>
#include <span>

#include "core/backend/backend.h"
#include "core/backend/xnnpack/arena.h"
#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/thread_pool.h"

namespace peruse::xnnpack {

class PackedLinear {
 public:
  // Zero weights and biases.
  static Result<PackedLinear> Create(const LinearSpec& spec);

  // Rows [first_row, first_row + rows.size() / depth()) of W, packed as they arrive.
  void WriteRows(int32_t first_row, std::span<const float> rows);
  void WriteBias(int32_t first, std::span<const float> values);

  const LinearSpec& spec() const { return spec_; }
  int64_t depth() const { return spec_.in / spec_.groups; }         // inputs of a group
  int64_t group_width() const { return spec_.out / spec_.groups; }  // outputs of a group
  int64_t bytes() const;

  // Columns [first, first + count) of a group, packed for Gemm; first is a multiple of TileCols(). Weights held as half
  // are expanded into `scratch`, of PackedFloats(depth(), count) floats.
  const float* Panels(int64_t group, int64_t first, int64_t count, float* scratch) const;

 private:
  explicit PackedLinear(const LinearSpec& spec) : spec_(spec) {}

  bool half() const { return spec_.precision == Precision::kF16; }
  int64_t PaddedWidth() const;  // of a group, in whole panels
  float* group(int64_t g) const;
  uint16_t* group_halves(int64_t g) const;

  LinearSpec spec_;
  AlignedBytes bytes_;   // kF32: for each group, its packed weights; kF16: the same as half, without the biases
  AlignedBytes biases_;  // kF16: [groups, PaddedWidth()] floats
};

// Floats of workspace that RunLinear needs.
int64_t LinearScratch(const PackedLinear& weight, int32_t threads);

// out[r, group g] = activation(x[r, group g] W_g^T + b_g), where group g of x starts at column g * group_step. For a
// Linear that is weight.depth(); a convolution's overlapping rows have their groups elsewhere.
void RunLinear(const ThreadPool& pool, const Block& x, int64_t group_step, const PackedLinear& weight,
               Activation activation, float* scratch, const Block& out);

}  // namespace peruse::xnnpack
