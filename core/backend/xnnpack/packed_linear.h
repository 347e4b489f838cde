// Packed weights of a linear layer, with a kernel per weight format.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/backend/xnnpack/arena.h"
#include "core/backend/xnnpack/block.h"
#include "core/backend/xnnpack/thread_pool.h"
#include "core/base/status.h"
#include "core/formats/linear_spec.h"
#include "core/formats/weight_format.h"
#include "core/ops/activation.h"

namespace peruse::xnnpack {

class PackedLinear {
 public:
  // Creates zero weights and biases in the spec's format. Errors: kOutOfMemory.
  static Result<std::unique_ptr<PackedLinear>> Create(const LinearSpec& spec);
  virtual ~PackedLinear() = default;

  // Packs rows of W, starting at `first_row`.
  virtual void WriteRows(int32_t first_row, const EncodedRows& rows) = 0;
  virtual void WriteBias(int32_t first, std::span<const float> values) = 0;

  // Floats of workspace that Run needs for this number of rows.
  virtual int64_t Scratch(int64_t rows, int32_t threads) const = 0;
  // out[r, group g] = activation(x[r, group g] W_g^T + b_g), where group g of x starts at column g * group_step: depth() for a Linear;
  // different for a convolution's overlapping rows.
  virtual void Run(const ThreadPool& pool, const Block& x, int64_t group_step, Activation activation, float* scratch,
                   const Block& out) const = 0;

  const LinearSpec& spec() const { return spec_; }
  int64_t depth() const { return spec_.in / spec_.groups; }         // inputs of a group
  int64_t group_width() const { return spec_.out / spec_.groups; }  // outputs of a group
  int64_t bytes() const { return weight_bytes_ + column_bytes_; }

 protected:
  // `tile_cols` is the kernel's.
  PackedLinear(const LinearSpec& spec, int64_t tile_cols);

  // Allocates zeroed memory for the weights, and `values` four-byte numbers per column. Returns false when memory runs out.
  bool Allocate(int64_t weight_bytes, int64_t values);
  std::byte* weights() const { return weights_.get(); }
  // Per-column number `what` of a group.
  float* columns(int64_t what, int64_t group) const {
    return reinterpret_cast<float*>(columns_.get()) + (what * spec_.groups + group) * padded_width_;
  }
  int64_t padded_width() const { return padded_width_; }  // of a group, in whole panels

  // Calls visit(group, column in it, row of W) for `count` rows, starting at `first`.
  template <typename Visit>
  void ForRows(int64_t first, int64_t count, Visit visit) const {
    for (int64_t row = first; row < first + count; ++row) visit(row / group_width(), row % group_width(), row - first);
  }
  // Writes per-column number `what`, for WriteBias and WriteScales.
  void WriteColumns(int64_t what, int32_t first, std::span<const float> values);

 private:
  const LinearSpec spec_;
  const int64_t padded_width_;
  int64_t weight_bytes_ = 0;
  int64_t column_bytes_ = 0;
  AlignedBytes weights_;
  AlignedBytes columns_;
};

// The kernels of the formats (a table in packed_linear.cc), each in the file of its name. They return nullptr when memory runs out.
std::unique_ptr<PackedLinear> CreateF32Linear(const LinearSpec& spec);
std::unique_ptr<PackedLinear> CreateF16Linear(const LinearSpec& spec);
std::unique_ptr<PackedLinear> CreateQ8Linear(const LinearSpec& spec);

}  // namespace peruse::xnnpack
