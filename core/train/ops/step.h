// Runs a program forward, keeps what the backward pass needs, and runs it backward: gradients with respect to parameters and inputs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/program/indices.h"
#include "core/train/memory/tape.h"

namespace peruse::train {

struct StepOptions {
  bool backward = true;    // whether a backward pass follows
  bool parameters = true;  // compute gradients of parameters
  bool inputs = false;     // compute gradients of ops::Input
  Value stop;              // gradients are not propagated to the operations before this value
  float dropout = 0;       // dropout rate of hidden states, where transformers applies dropout
  float attention_dropout = 0;
  uint64_t seed = 0;    // seed of the dropout masks
  uint32_t number = 0;  // number of the training step
  uint32_t part = 0;    // number of the part, if the batch of a step is split
};

class Step : private Tape {
 public:
  // The program must only have plain (not fused) operations, and one output. Both arguments must outlive the step.
  Step(const Program& program, const PackedParameters& packed);

  // Allocates memory for a batch. Errors: kOutOfMemory. After a success, smaller batches do not allocate.
  Status Begin(const BatchInputs& inputs, const StepOptions& options,
               std::span<const std::span<const float>> matrices = {});
  // Returns the number of bytes that the last Begin needed.
  int64_t bytes() const { return bytes_; }

  void Forward();
  Block output() const { return value(program_->outputs[0].value); }
  Block output_gradient() const { return gradients_[Root(program_->outputs[0].value)]; }
  void Backward();
  // Returns the shapes [rows, cols] of all hidden states of the batch to which dropout applies, in the order of operations.
  std::vector<std::array<int64_t, 2>> dropped() const;
  Block input_gradient(int32_t number) const;

 private:
  struct Piece {
    int64_t size;
    int32_t from, to;  // times (FindLifetimes) of the first and the last use
    int32_t value;     // number of a value; higher numbers are operands after dropout
    bool gradient;
    int64_t offset;
  };

  size_t Root(Value value) const { return static_cast<size_t>(program_->Root(value).id); }
  void FindDropout();
  void FindNeeds();
  void FindLifetimes();
  int64_t PlacePieces();
  void PlaceViews(float* memory);

  // Whether dropout changes the first result of an operation, or a copy of its operand (other readers then see the original).
  enum class Drops : uint8_t { kNothing, kResult, kOperand };
  struct DroppedOperand {
    size_t op = 0;
    Value x;
    Block values = {};  // the copy after dropout
    Block gradient = {};
    uint8_t started = 0;  // whether the copy's gradient has been written
  };
  void DropRows(size_t op, Drops what, const Block& block) const;
  DroppedOperand* OperandOf(size_t op);  // Returns the operand of operation `op` to which dropout applies, or nullptr.
  void Fill(const DroppedOperand& operand) const;
  void Exchange(DroppedOperand& operand);
  void Return(DroppedOperand& operand);

  PackedParameters frozen_;  // the parameters, without gradients
  const PackedParameters* all_;
  StepOptions options_;
  BatchIndices batch_indices_;
  Sizes sizes_;
  std::vector<Drops> drops_;  // where dropout applies, for each operation
  std::vector<DroppedOperand> operands_;
  std::vector<uint8_t> needs_;  // for each value that owns memory: whether it gets a gradient
  std::vector<Piece> pieces_;
  std::vector<size_t> order_, near_;  // indices into pieces_, used while memory is assigned to them
  FloatBuffer memory_;
  int64_t bytes_ = 0;
};

}  // namespace peruse::train
