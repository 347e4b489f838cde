// Linear layers whose weights become int8 integers: quantises rows, multiplies exactly (int8_gemm.h), and scales back. Each step after the
// sums is one float32 operation, so that without an activation function all builds and machines give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/cpu/int8_gemm.h"
#include "core/cpu/packed_linear.h"

namespace peruse::cpu {

class Int8Linear : public PackedLinear {
 public:
  void WriteBias(int32_t first, std::span<const float> values) override { WriteColumns(kBiases, first, values); }

  int64_t Scratch(int64_t rows, int32_t threads) const override;
  void Run(const ThreadPool& pool, const Block& x, int64_t group_step, int64_t first_output, Activation activation,
           float* scratch, const Block& out) const override;

 protected:
  // Kinds of numbers that PackedLinear::columns stores for each column.
  enum Columns : int64_t { kBiases, kScales, kColumnKinds };

  explicit Int8Linear(const LinearSpec& spec) : PackedLinear(spec, Int8TileCols()) {}

  // Prepares the panel that starts with column `output`. `scratch` has PanelScratch() bytes, and is aligned.
  virtual Int8Panel Prepare(int64_t group, int64_t output, std::byte* scratch) const = 0;
  virtual int64_t PanelScratch() const = 0;
};

}  // namespace peruse::cpu
