// Packed weights of a linear layer. Each weight format has its own kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/status.h"
#include "core/cpu/arena.h"
#include "core/cpu/block.h"
#include "core/cpu/thread_pool.h"
#include "core/formats/linear_spec.h"
#include "core/formats/weight_format.h"
#include "core/ops/activation.h"

namespace peruse::cpu {

class PackedLinear {
 public:
  static Result<std::unique_ptr<PackedLinear>> Create(const LinearSpec& spec);
  virtual ~PackedLinear() = default;

  virtual void WriteRows(int32_t first_row, const EncodedRows& rows) = 0;
  virtual void WriteBias(int32_t first, std::span<const float> values) = 0;

  // Returns the number of workspace floats that Run needs for `rows` rows.
  virtual int64_t Scratch(int64_t rows, int32_t threads) const = 0;
  // out[r, group g] = activation(x[r, group g] W_g^T + b_g). Group g of x starts at column g * group_step, which is depth() for a Linear
  // and differs for a convolution's overlapping rows. With one group, `out` may have fewer columns than the layer: those from
  // `first_output` on.
  virtual void Run(const ThreadPool& pool, const Block& x, int64_t group_step, int64_t first_output,
                   Activation activation, float* scratch, const Block& out) const = 0;

  const LinearSpec& spec() const { return spec_; }
  int64_t depth() const { return spec_.in / spec_.groups; }         // inputs of a group
  int64_t group_width() const { return spec_.out / spec_.groups; }  // outputs of a group
  int64_t bytes() const { return weight_bytes_ + column_bytes_; }

 protected:
  PackedLinear(const LinearSpec& spec, int64_t tile_cols);

  // Allocates zeroed memory for weights, and for `values` four-byte numbers per column. Returns false if memory runs out.
  bool Allocate(int64_t weight_bytes, int64_t values);
  std::byte* weights() const { return weights_.get(); }
  // Returns the numbers of kind `what` (such as biases or scales), one per column of a group.
  float* columns(int64_t what, int64_t group) const {
    return reinterpret_cast<float*>(columns_.get()) + (what * spec_.groups + group) * padded_width_;
  }
  int64_t padded_width() const { return padded_width_; }  // columns of a group, padded to whole panels

  template <typename Visit>
  void ForRows(int64_t first, int64_t count, Visit visit) const {
    for (int64_t row = first; row < first + count; ++row) visit(row / group_width(), row % group_width(), row - first);
  }
  void WriteColumns(int64_t what, int32_t first, std::span<const float> values);

 private:
  const LinearSpec spec_;
  const int64_t padded_width_;
  int64_t weight_bytes_ = 0;
  int64_t column_bytes_ = 0;
  AlignedBytes weights_;
  AlignedBytes columns_;
};

// Each format's kernel, in a file of its name. These functions return nullptr if memory runs out.
std::unique_ptr<PackedLinear> CreateF32Linear(const LinearSpec& spec);
std::unique_ptr<PackedLinear> CreateF16Linear(const LinearSpec& spec);
std::unique_ptr<PackedLinear> CreateQ8Linear(const LinearSpec& spec);
std::unique_ptr<PackedLinear> CreateQ4Linear(const LinearSpec& spec);

}  // namespace peruse::cpu
