// The memory of a training step as operations see it: values, parameters, gradients. Each operation has two functions in a file of
// core/train/ops: Forward(op, tape) computes results, Backward(op, tape) adds to the gradients of operands and parameters, given those of
// results. core/ops defines both (Compute, Gradient).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cpu/block.h"
#include "core/program/program.h"
#include "core/tensor/ragged_batch.h"
#include "core/train/memory/dropout.h"
#include "core/train/memory/workers.h"

namespace peruse::train {

using cpu::Block;

void Fill(const Block& block, float value);

// A parameter in the layout that operations read. Its gradient is null if it is not trained.
struct LinearParameter {
  LinearSpec spec;
  float* weight = nullptr;  // [out, in / groups]
  float* bias = nullptr;    // [out]
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
};
struct MatrixParameter {
  Block values;
  Block gradient;
};
struct PackedParameters {
  std::vector<LinearParameter> linears;    // indexed by LinearId
  std::vector<MatrixParameter> constants;  // indexed by ValueInfo::constant
  std::vector<MatrixParameter> tables;     // indexed by TableId
  Workers* workers = nullptr;              // compute threads
};

class Tape {
 public:
  Block value(Value value) const { return values_[static_cast<size_t>(value.id)]; }
  // Returns the gradient of a result. Null data means zero.
  Block gradient(Value value) const;
  // Whether an operand, or a parameter used as one, gets a gradient.
  bool wants(Value value) const;
  // Returns the gradient to add to; it is initially zero. Before several threads add to a gradient, one thread must have called this.
  Block Accumulator(Value value);
  // Returns the gradient to write. If *add is false, the caller must overwrite it instead of adding.
  Block Destination(Value value, bool* add);
  const LinearParameter& at(LinearId id) const { return packed_->linears[static_cast<size_t>(id.id)]; }
  const MatrixParameter& at(TableId id) const { return packed_->tables[static_cast<size_t>(id.id)]; }
  std::span<const int32_t> at(IndexId id) const { return indices_[static_cast<size_t>(id.id)]; }
  std::span<const float> at(const ops::Input& op) const { return inputs_[static_cast<size_t>(op.number)]; }
  std::span<const std::span<const int32_t>> indices() const { return indices_; }
  const RaggedBatch& batch() const { return *batch_; }
  Workers& workers() const { return *packed_->workers; }
  float* scratch() const { return scratch_; }
  // Returns the number of the current operation, which identifies its dropout masks.
  uint32_t place() const { return place_; }
  const Dropout& dropout() const { return dropout_; }

 protected:
  const Program* program_ = nullptr;
  const PackedParameters* packed_ = nullptr;
  const RaggedBatch* batch_ = nullptr;
  std::span<const std::span<const int32_t>> indices_;
  std::span<const std::span<const float>> inputs_;
  float* scratch_ = nullptr;
  uint32_t place_ = 0;
  Dropout dropout_;
  std::vector<Block> values_;     // indexed by Value
  std::vector<Block> gradients_;  // indexed by Value; data is null for values without a gradient
  std::vector<uint8_t> started_;  // for each value that owns memory: whether its gradient has been written
};

// Returns the floats of scratch memory that an operation needs, in either direction, for all threads together.
int64_t Scratch(const Op& op, const Program& program, const PackedParameters& packed, const RaggedBatch& batch,
                const Sizes& sizes, std::span<const std::span<const int32_t>> indices);
// Returns the part of Scratch that an attention operation needs for one head.
int64_t HeadScratch(const ops::Attention& op, const RaggedBatch& batch,
                    std::span<const std::span<const int32_t>> indices);

// Each operation specialises both templates in a file of core/train/ops; the linker reports missing ones.
template <typename Operation>
void Forward(const Operation& op, Tape& t);
template <typename Operation>
void Backward(const Operation& op, Tape& t);

}  // namespace peruse::train
