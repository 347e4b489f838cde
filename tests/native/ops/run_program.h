#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/backend/backend.h"

namespace peruse::testing {

struct ProgramResult {
  Status status;
  std::vector<FloatBuffer> outputs;
};
RaggedBatch BatchOf(const std::vector<int32_t>& lengths);
struct ProgramInputs {
  RaggedBatch batch = BatchOf({1});
  std::vector<std::span<const float>> matrices;
  std::vector<std::span<const int32_t>> indices;
  int64_t chosen = 0;
};
ProgramResult RunProgram(Backend& backend, const Program& program, const Weights& weights, const ProgramInputs& inputs);

// Builds and runs a program that a test writes operation by operation. Values have fixed sizes [rows, cols].
class SmallProgram {
 public:
  Value Input(int32_t rows, int32_t cols);
  Value New(int32_t rows, int32_t cols);
  Value Columns(Value x, int32_t first, int32_t count);
  Value Constant(Backend& backend, int32_t rows, int32_t cols);
  LinearId Linear(Backend& backend, const LinearSpec& spec);
  template <typename AnyOp>
  void Add(const AnyOp& op) {
    program_.ops.push_back(op);
  }
  void Output(Value value) { program_.outputs.push_back({{}, value}); }
  Value Activated(Value x, Activation activation);

  const Program& program() const { return program_; }
  Program& program() { return program_; }
  const Weights& weights() const { return weights_; }
  ProgramResult Run(Backend& backend, std::vector<std::span<const float>> matrices) const {
    return RunProgram(backend, program_, weights_, {.matrices = std::move(matrices)});
  }

 private:
  Program program_;
  Weights weights_;
  int32_t inputs_ = 0;
};

inline std::vector<float> ToVector(const FloatBuffer& buffer) {
  return {buffer.values().begin(), buffer.values().end()};
}

}  // namespace peruse::testing
