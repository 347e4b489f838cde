// Linear layers with float products: the loop over panels and rows around Gemm, for any weight format.
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

  // Packs columns [first, first + count) of a group, given as rows of depth() elements in the format.
  virtual void Pack(const uint8_t* rows, int64_t group, int64_t first, int64_t count) = 0;
  // Returns columns [first, first + count) of a group packed for Gemm; first is a multiple of TileCols(). `scratch` has PanelScratch()
  // floats.
  virtual const float* Panels(int64_t group, int64_t first, int64_t count, float* scratch) const = 0;
  // Floats of a packed block of columns.
  int64_t PanelScratch() const;
};

}  // namespace peruse::xnnpack
