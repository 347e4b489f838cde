// Linear layers with float products, for any weight format: loops over panels and rows that call Gemm.
#pragma once

#include <cstdint>
#include <span>

#include "core/cpu/packed_linear.h"

namespace peruse::cpu {

class FloatLinear : public PackedLinear {
 public:
  void WriteRows(int32_t first_row, const EncodedRows& rows) override;
  void Run(const ThreadPool& pool, const Block& x, int64_t group_step, int64_t first_output, Activation activation,
           float* scratch, const Block& out) const override;

 protected:
  explicit FloatLinear(const LinearSpec& spec);

  // Packs the columns [first, first + count) of a group of weights. `rows` has, for each column, a row of depth() elements in the weight
  // format.
  virtual void Pack(const uint8_t* rows, int64_t group, int64_t first, int64_t count) = 0;
  // Returns the columns [first, first + count), packed for Gemm. `first` is a multiple of TileCols(), `scratch` has PanelScratch() floats.
  virtual const float* Panels(int64_t group, int64_t first, int64_t count, float* scratch) const = 0;
  int64_t PanelScratch() const;
};

}  // namespace peruse::cpu
