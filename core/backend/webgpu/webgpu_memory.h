#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/webgpu/gpu_format.h"
#include "core/backend/webgpu/recorder.h"

namespace peruse::webgpu {

struct LinearPart {
  int32_t first_row = 0;
  int32_t rows = 0;
  int32_t buffer = Recorder::kNoBuffer;
};

struct LinearWeight {
  LinearSpec spec;
  int32_t row_elements = 0;            // in / groups, padded as the weight format requires
  std::vector<LinearPart> parts;       // several parts if one GPU binding cannot hold all rows
  int32_t bias = Recorder::kNoBuffer;  // biases, followed by scales if the format has scales

  const GpuFormat& format() const { return GpuFormatOf(spec.precision); }
};

class Memory {
 public:
  explicit Memory(Recorder& recorder) : recorder_(recorder) {}

  Result<Weight> CreateLinear(const LinearSpec& spec);
  Status WriteRows(Weight weight, int32_t first_row, const EncodedRows& rows);
  Status WriteBias(Weight weight, int32_t first, std::span<const float> values);
  void FreeLinear(Weight weight);
  Result<Tensor> CreateConstant(int32_t rows, int32_t cols);
  Status WriteConstant(Tensor constant, int32_t first_row, std::span<const float> rows);
  const LinearWeight& linear(Weight weight) const;
  int64_t weight_bytes() const { return weight_bytes_; }

  // Returns the bytes of a workspace matrix, sized for the longest text in the length bucket (LengthBucket) if a binding can hold that.
  uint64_t MatrixBytes(int32_t rows, int32_t cols) const;
  // Creates the next slot of the running plan. Returns false if its buffer cannot be allocated.
  bool New(int32_t rows, int32_t cols);
  void Release();
  bool IsConstant(Tensor tensor) const;
  // Gives a slot a buffer that the host may write, and loses its contents. Returns false on failure.
  bool Refresh(Tensor tensor);
  int32_t buffer(Tensor tensor) const;

 private:
  struct Workspace {
    int32_t buffer;
    uint64_t bytes;
  };

  Status Failure() const;
  Status WriteScales(const LinearWeight& linear, int32_t first_row, std::span<const float> scales);
  Status WriteSums(const LinearWeight& linear, int32_t first_row, std::span<const uint8_t> payload, size_t row);
  // Calls fill(first, rows, memory) for each part that contains some of the rows [first_row, first_row + count). The callback writes `rows`
  // rows, starting with number `first` of the range, to `memory`.
  template <typename Fill>
  Status WriteParts(const LinearWeight& linear, int32_t first_row, int64_t count, Fill fill);

  Recorder& recorder_;
  std::vector<LinearWeight> linears_;
  std::vector<int32_t> constants_;
  std::vector<Workspace> workspace_;  // indexed by slot
  int64_t weight_bytes_ = 0;
};

}  // namespace peruse::webgpu
