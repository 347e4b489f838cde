// A linear layer's weights, packed for the kernels.
#pragma once

#include <cstdint>
#include <span>

#include "core/backend/xnnpack/arena.h"
#include "core/base/status.h"
#include "core/formats/linear_spec.h"

namespace peruse::xnnpack {

class PackedLinear {
 public:
  // Zero weights and biases.
  static Result<PackedLinear> Create(const LinearSpec& spec);
  // What is left of one that was freed: no memory, and no use.
  static PackedLinear Freed() { return PackedLinear(LinearSpec()); }

  // Rows [first_row, first_row + rows.size() / depth()) of W, packed as they arrive: floats, or kQ8's int8 and scales.
  void WriteRows(int32_t first_row, std::span<const float> rows);
  void WriteInt8(int32_t first_row, std::span<const int8_t> rows);
  void WriteScales(int32_t first_row, std::span<const float> scales);
  void WriteBias(int32_t first, std::span<const float> values);

  const LinearSpec& spec() const { return spec_; }
  int64_t depth() const { return spec_.in / spec_.groups; }         // inputs of a group
  int64_t group_width() const { return spec_.out / spec_.groups; }  // outputs of a group
  int64_t bytes() const;

  // Columns [first, first + count) of a group, packed for Gemm; first is a multiple of TileCols(). Weights held as half
  // are expanded into `scratch`, of PackedFloats(depth(), count) floats.
  const float* Panels(int64_t group, int64_t first, int64_t count, float* scratch) const;

  // kQ8: panels of a group from column `first` on, packed for ChosenInt8Path(), and what belongs to each column.
  const int8_t* Int8Panels(int64_t group, int64_t first) const;
  const float* biases(int64_t group) const { return columns(kBiases, group); }
  const float* scales(int64_t group) const { return columns(kScales, group); }
  const int32_t* weight_sums(int64_t group) const {
    return reinterpret_cast<const int32_t*>(columns(kWeightSums, group));
  }

 private:
  explicit PackedLinear(const LinearSpec& spec) : spec_(spec) {}

  // What is kept of each column beside its weights.
  enum Columns : int64_t { kBiases, kScales, kWeightSums };

  bool half() const { return spec_.precision == Precision::kF16; }
  bool q8() const { return spec_.precision == Precision::kQ8; }
  int64_t ColumnBytes() const;
  float* columns(Columns what, int64_t g) const {
    return reinterpret_cast<float*>(columns_.get()) + (what * spec_.groups + g) * PaddedWidth();
  }
  int64_t PaddedWidth() const;  // of a group, in whole panels
  float* group(int64_t g) const;
  uint16_t* group_halves(int64_t g) const;

  LinearSpec spec_;
  AlignedBytes bytes_;    // for each group its packed weights; kF32: with the biases
  AlignedBytes columns_;  // kF16: biases; kQ8: biases, scales, weight sums: each [groups, PaddedWidth()]
};

}  // namespace peruse::xnnpack
