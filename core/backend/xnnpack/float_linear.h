// Linear layers that multiply floats: the loop over panels and rows around the float GEMM, whatever the format of the weights.
#pragma once

#include <cstdint>
#include <span>

#include "core/backend/xnnpack/packed_linear.h"

namespace peruse::xnnpack {

class FloatLinear : public PackedLinear {
 public:
  void WriteRows(int32_t first_row, const EncodedRows& rows) override;
  void Run(const ThreadPool& pool, const Block& x, int64_t group_step, Activation activation, float* scratch,
           const Block& out) const override;

 protected:
  explicit FloatLinear(const LinearSpec& spec);

  // Columns [first, first + count) of a group, given as rows of depth() elements in the format.
  virtual void Pack(const uint8_t* rows, int64_t group, int64_t first, int64_t count) = 0;
  // Columns [first, first + count) of a group as Gemm wants them; first is a multiple of TileCols(). `scratch`: of
  // PanelScratch() floats.
  virtual const float* Panels(int64_t group, int64_t first, int64_t count, float* scratch) const = 0;
  // Floats of a block of columns as Panels gives it.
  int64_t PanelScratch() const;
};

}  // namespace peruse::xnnpack
