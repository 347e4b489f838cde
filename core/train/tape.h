// Operations' view of a training step: memory of values, parameters and their gradients.
//
// Each operation has two functions in a file of this folder: Forward(op, tape) computes its results from its operands; Backward(op, tape)
// adds to the gradients of its operands and parameters, given those of its results. core/ops defines both (Compute, Gradient).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/program.h"
#include "core/tensor/ragged_batch.h"
#include "core/train/dropout.h"
#include "core/train/workers.h"

namespace peruse::train {

// A row-major matrix, or a block of its columns. Null data means absent.
struct Block {
  float* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  float* row(int64_t r) const { return data + r * stride; }
  explicit operator bool() const { return data != nullptr; }
  Operand operand() const { return {data, stride, 1}; }
  Block Columns(int64_t first, int64_t count) const { return {data + first, rows, count, stride}; }
  Block Rows(int64_t first, int64_t count) const { return {row(first), count, cols, stride}; }
};

void Fill(const Block& block, float value);

// A parameter in the layout that operations read, and its gradient, which is null if the parameter is not trained.
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
struct HeldParameters {
  std::vector<LinearParameter> linears;    // by LinearId
  std::vector<MatrixParameter> constants;  // by ValueInfo::constant
  std::vector<MatrixParameter> tables;     // by TableId
  Workers* workers = nullptr;              // compute threads
};

class Tape {
 public:
  Block value(Value value) const { return values_[static_cast<size_t>(value.id)]; }
  // The gradient of a result; null data means zero.
  Block gradient(Value value) const;
  // Whether an operand, or a parameter used as one, gets a gradient.
  bool wants(Value value) const;
  // Returns the gradient to add to; it starts at zero. Before several threads add to a gradient, one thread must have called this.
  Block Accumulator(Value value);
  // The same, but to be overwritten if *add is false.
  Block Destination(Value value, bool* add);
  const LinearParameter& at(LinearId id) const { return held_->linears[static_cast<size_t>(id.id)]; }
  const MatrixParameter& at(TableId id) const { return held_->tables[static_cast<size_t>(id.id)]; }
  std::span<const int32_t> at(IndexId id) const { return indices_[static_cast<size_t>(id.id)]; }
  std::span<const float> at(const ops::Input& op) const { return inputs_[static_cast<size_t>(op.number)]; }
  std::span<const std::span<const int32_t>> indices() const { return indices_; }
  const RaggedBatch& batch() const { return *batch_; }
  Workers& workers() const { return *held_->workers; }
  float* scratch() const { return scratch_; }
  // Number of the running operation, which identifies its dropout.
  uint32_t place() const { return place_; }
  const Dropout& dropout() const { return dropout_; }

 protected:
  const Program* program_ = nullptr;
  const HeldParameters* held_ = nullptr;
  const RaggedBatch* batch_ = nullptr;
  std::span<const std::span<const int32_t>> indices_;
  std::span<const std::span<const float>> inputs_;
  float* scratch_ = nullptr;
  uint32_t place_ = 0;
  Dropout dropout_;
  std::vector<Block> values_;     // by Value
  std::vector<Block> gradients_;  // by Value; null data for roots without a gradient
  std::vector<uint8_t> started_;  // by root: whether its gradient has been written
};

// Floats of scratch memory that an operation needs, in either direction, for all threads together.
int64_t Scratch(const Op& op, const Program& program, const HeldParameters& held, const RaggedBatch& batch,
                const Sizes& sizes, std::span<const std::span<const int32_t>> indices);
// The part of it for one head of an attention.
int64_t HeadScratch(const ops::Attention& op, const RaggedBatch& batch,
                    std::span<const std::span<const int32_t>> indices);
// Whether the backward pass reads the operands' values.
bool KeepsOperands(const Op& op);

// Each operation specialises both in a file of this folder; a missing one is a linker error.
template <typename Operation>
void Forward(const Operation& op, Tape& t);
template <typename Operation>
void Backward(const Operation& op, Tape& t);

}  // namespace peruse::train
