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
  int64_t bytes() const { return spec_.groups * GroupFloats() * static_cast<int64_t>(sizeof(float)); }

  const float* group(int64_t g) const { return data() + g * GroupFloats(); }

 private:
  explicit PackedLinear(const LinearSpec& spec, AlignedBytes bytes) : spec_(spec), bytes_(std::move(bytes)) {}

  int64_t GroupFloats() const;
  float* data() const { return reinterpret_cast<float*>(bytes_.get()); }

  LinearSpec spec_;
  AlignedBytes bytes_;  // for each group, its packed weights
};

// out[r, group g] = activation(x[r, group g] W_g^T + b_g), where group g of x starts at column g * group_step. For a
// Linear that is weight.depth(); a convolution's overlapping rows have their groups elsewhere.
void RunLinear(const ThreadPool& pool, const Block& x, int64_t group_step, const PackedLinear& weight,
               Activation activation, const Block& out);

}  // namespace peruse::xnnpack
