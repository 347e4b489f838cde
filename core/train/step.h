// Runs a program forward, keeps what the backward pass reads, and runs it backward: gradients of a loss with respect to parameters and
// inputs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/float_buffer.h"
#include "core/base/status.h"
#include "core/program/indices.h"
#include "core/train/tape.h"

namespace peruse::train {

struct StepOptions {
  bool backward = true;    // otherwise nothing is kept
  bool parameters = true;  // gradients of parameters
  bool inputs = false;     // gradients of ops::Input
  Value stop;              // gradients stop here
  float dropout = 0;       // of hidden states, where transformers applies it
  float attention_dropout = 0;
  uint64_t seed = 0;    // of dropout
  uint32_t number = 0;  // of the step
  uint32_t part = 0;    // of the step's batch
};

class Step : private Tape {
 public:
  // The program only has plain operations, and one output. Both arguments outlive this.
  Step(const Program& program, const HeldParameters& held);

  // Errors: kOutOfMemory. After a success, a batch that needs no more memory does not allocate.
  Status Begin(const BatchInputs& inputs, const StepOptions& options,
               std::span<const std::span<const float>> matrices = {});
  // Bytes that the last Begin needed.
  int64_t bytes() const { return bytes_; }

  void Forward();
  Block output() const { return value(program_->outputs[0].value); }
  Block output_gradient() const { return gradients_[Root(program_->outputs[0].value)]; }
  void Backward();
  // Shapes [rows, cols] of hidden-state dropout in a batch, in the order of operations.
  std::vector<std::array<int64_t, 2>> dropped() const;
  // The gradient of ops::Input number `number`.
  Block input_gradient(int32_t number) const;

 private:
  struct Piece {
    int64_t size;
    int32_t from, to;  // times of first and last use
    int32_t value;     // numbers above those of values are dropped operands
    bool gradient;
    int64_t offset;
  };

  size_t Root(Value value) const { return static_cast<size_t>(program_->Root(value).id); }
  void FindDropout();
  void FindNeeds();
  void FindLifetimes();
  int64_t PlacePieces();
  void PlaceViews(float* memory);

  // Whether dropout changes an operation's first result, or a copy of its operand, whose other readers see the original.
  enum class Drops : uint8_t { kNothing, kResult, kOperand };
  struct DroppedOperand {
    size_t op = 0;
    Value x;
    Block values = {};  // the copy
    Block gradient = {};
    uint8_t started = 0;  // whether the gradient has been written
  };
  void DropRows(size_t op, Drops what, const Block& block) const;
  DroppedOperand* OperandOf(size_t op);  // nullptr if it has no dropout
  void Fill(const DroppedOperand& operand) const;
  void Exchange(DroppedOperand& operand);
  void Return(DroppedOperand& operand);

  HeldParameters frozen_;  // without gradients
  const HeldParameters* all_;
  StepOptions options_;
  BatchIndices batch_indices_;
  Sizes sizes_;
  std::vector<Drops> drops_;  // by operation
  std::vector<DroppedOperand> operands_;
  std::vector<uint8_t> needs_;  // by root: whether it gets a gradient
  std::vector<Piece> pieces_;
  std::vector<size_t> order_, near_;  // of pieces, during placement
  FloatBuffer memory_;
  int64_t bytes_ = 0;
};

}  // namespace peruse::train
