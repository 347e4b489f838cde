// One training step as the operations see it: where values, parameters and their gradients lie.
//
// Each operation has two functions in a file of this folder: Forward(op, tape) computes its results from its operands, Backward(op,
// tape) adds to the gradients of its operands and parameters what those of its results bring. What they mean stands in
// core/ops (Compute, Gradient).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/program.h"
#include "core/tensor/ragged_batch.h"
#include "core/train/dropout.h"
#include "core/train/workers.h"

namespace peruse::train {

// A row-major matrix, or some of its columns. No data: not there.
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

// A parameter as operations hold it, and its gradient: no data where it is not trained.
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
  Workers* workers = nullptr;              // who computes with them
};

class Tape {
 public:
  Block value(Value value) const { return values_[static_cast<size_t>(value.id)]; }
  // The gradient of a result; no data: nothing came to it, so nothing goes on.
  Block gradient(Value value) const;
  // Whether an operand, or parameter in an operand's place, gets a gradient.
  bool wants(Value value) const;
  // Where to add to an operand's gradient: zeros at first. What several threads add to has been asked for before they start.
  Block Accumulator(Value value);
  // The same, to be written instead when *add is false.
  Block Destination(Value value, bool* add);
  const LinearParameter& at(LinearId id) const { return held_->linears[static_cast<size_t>(id.id)]; }
  const MatrixParameter& at(TableId id) const { return held_->tables[static_cast<size_t>(id.id)]; }
  std::span<const int32_t> at(IndexId id) const { return indices_[static_cast<size_t>(id.id)]; }
  std::span<const float> at(const ops::Input& op) const { return inputs_[static_cast<size_t>(op.number)]; }
  std::span<const std::span<const int32_t>> indices() const { return indices_; }
  const RaggedBatch& batch() const { return *batch_; }
  Workers& workers() const { return *held_->workers; }
  float* scratch() const { return scratch_; }
  // Number of the operation that runs: the place of its dropout.
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
  std::vector<Block> gradients_;  // by Value; of roots that get none: no data
  std::vector<uint8_t> started_;  // by root: whether its gradient holds something
};

// Floats of scratch memory that an operation takes, in either direction, on all threads together.
int64_t Scratch(const Op& op, const Program& program, const HeldParameters& held, const RaggedBatch& batch,
                const Sizes& sizes, std::span<const std::span<const int32_t>> indices);
// The part of it that one head of an attention takes.
int64_t HeadScratch(const ops::Attention& op, const RaggedBatch& batch,
                    std::span<const std::span<const int32_t>> indices);
// Whether the reverse pass reads the operands' values.
bool KeepsOperands(const Op& op);

// Each operation has a specialisation of both in a file of this folder; the linker names one that is missing.
template <typename Operation>
void Forward(const Operation& op, Tape& t);
template <typename Operation>
void Backward(const Operation& op, Tape& t);

}  // namespace peruse::train
