// Runs a program forward, keeping what the way back reads, and back: the gradients of a loss by parameters and inputs.
//
//   Step step(program, held);
//   step.Begin(batch, options);          sizes and memory are known now
//   step.Forward();                      step.output() holds values; a loss writes into step.output_gradient()
//   step.Backward();
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
  bool backward = true;    // else nothing is kept for it
  bool parameters = true;  // gradients of parameters
  bool inputs = false;     // gradients of ops::Input
  Value stop;              // no gradient goes on beyond this
  float dropout = 0;       // of hidden states, as transformers places it
  float attention_dropout = 0;
  uint64_t seed = 0;    // of dropout
  uint32_t number = 0;  // of the step
  uint32_t part = 0;    // of the step's batch
};

class Step : private Tape {
 public:
  // The program has plain operations alone, and one output. Both outlive this.
  Step(const Program& program, const HeldParameters& held);

  // kOutOfMemory. Once it went well, a batch that takes no more memory allocates nothing.
  Status Begin(const BatchInputs& inputs, const StepOptions& options,
               std::span<const std::span<const float>> matrices = {});
  // Bytes of memory that the last Begin found necessary.
  int64_t bytes() const { return bytes_; }

  void Forward();
  Block output() const { return value(program_->outputs[0].value); }
  Block output_gradient() const { return gradients_[Root(program_->outputs[0].value)]; }
  void Backward();
  // What dropout of hidden states works on in a batch: [rows, cols] of each place, in the order of operations.
  std::vector<std::array<int64_t, 2>> dropped() const;
  // What came to the result of an ops::Input, by its number.
  Block input_gradient(int32_t number) const;

 private:
  struct Piece {
    int64_t size;
    int32_t from, to;  // times at which it is in use
    int32_t value;     // from the number of values on: of a dropped operand
    bool gradient;
    int64_t offset;
  };

  size_t Root(Value value) const { return static_cast<size_t>(program_->Root(value).id); }
  void FindDropout();
  void FindNeeds();
  void FindLifetimes();
  int64_t PlacePieces();
  void PlaceViews(float* memory);

  // What dropout does to an operation's first result, or to a copy of its operand, which others read as it is.
  enum class Drops : uint8_t { kNothing, kResult, kOperand };
  struct DroppedOperand {
    size_t op = 0;
    Value x;
    Block values = {};  // the copy
    Block gradient = {};
    uint8_t started = 0;  // whether the gradient holds something
  };
  void DropRows(size_t op, Drops what, const Block& block) const;
  DroppedOperand* OperandOf(size_t op);  // null: it is not dropped out
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
  std::vector<size_t> order_, near_;  // of pieces, while they are placed
  FloatBuffer memory_;
  int64_t bytes_ = 0;
};

}  // namespace peruse::train
