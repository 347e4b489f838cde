// A program over one text, written operation by operation, with random weights and inputs.
#pragma once

#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "core/backend/backend.h"
#include "core/program/flops.h"
#include "core/program/plan.h"
#include "core/program/token_indices.h"

namespace peruse {

class FilledProgram {
 public:
  FilledProgram(Backend& backend, int32_t length) : backend_(backend) { batch_.Append(length); }

  Value New(int32_t cols) { return program_.NewValue({Domain::kTokens, 1}, {Domain::kOne, cols}); }
  Value Tokens(int32_t cols) {
    const Value value = New(cols);
    program_.ops.push_back(ops::Input{static_cast<int32_t>(inputs_.size()), value});
    inputs_.push_back(Noise(int64_t{batch_.rows()} * cols));
    return value;
  }
  Value Columns(Value x, int32_t first, int32_t count) {
    program_.values.push_back({program_.info(x).rows, {Domain::kOne, count}, x.id, first});
    return {static_cast<int32_t>(program_.values.size()) - 1};
  }
  Value Constant(int32_t rows, int32_t cols) {
    const Value value = program_.NewValue({Domain::kOne, rows}, {Domain::kOne, cols});
    program_.info(value).constant = program_.constants++;
    weights_.constants.push_back(backend_.CreateConstant(rows, cols).value());
    Check(backend_.WriteConstant(weights_.constants.back(), 0, Noise(int64_t{rows} * cols)));
    return value;
  }
  LinearId Linear(const LinearSpec& spec) {
    const Weight weight = backend_.CreateLinear(spec).value();
    const std::vector<float> noise = Noise(int64_t{spec.in / spec.groups} * spec.out);
    EncodedBuffer buffer;
    Check(WriteFloats(backend_, weight, spec, 0, noise, &buffer));
    program_.linears.push_back(spec);
    weights_.linears.push_back(weight);
    return {static_cast<int32_t>(weights_.linears.size()) - 1};
  }
  IndexId Slots(indices::Slots slots) {
    slots.offset = slots.rows / 2;
    program_.indices.push_back(slots);
    return {static_cast<int32_t>(program_.indices.size()) - 1};
  }
  template <typename AnyOp>
  void Add(const AnyOp& op) {
    program_.ops.push_back(op);
  }

  double flops() {
    Prepare();
    double flops = 0;
    for (const Op& op : program_.ops) flops += Flops(program_, op, batch_, sizes_, indices_.views());
    return flops;
  }
  void Run() {
    Prepare();
    Check(backend_.Run(plan_, weights_,
                       {.batch = batch_, .sizes = sizes_, .indices = indices_.views(), .matrices = matrices_}, {}));
    Check(backend_.Submit());
  }

 private:
  static void Check(const Status& status) {
    if (!status.ok()) std::abort();
  }

  void Prepare() {
    if (!plan_.program.ops.empty()) return;
    plan_ = PlanMemory(program_);
    const BatchInputs inputs = {{}, batch_, {}};
    sizes_ = SizesOf(inputs);
    indices_.Fill(program_, inputs);
    matrices_.assign(inputs_.begin(), inputs_.end());
  }

  std::vector<float> Noise(int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) {
      state_ = state_ * 1664525u + 1013904223u;
      value = (static_cast<float>(state_ >> 8) / (1 << 23) - 1) * 0.1f;
    }
    return values;
  }

  Backend& backend_;
  RaggedBatch batch_;
  Program program_;
  Weights weights_;
  std::vector<std::vector<float>> inputs_;
  std::vector<std::span<const float>> matrices_;
  Plan plan_;
  Sizes sizes_;
  BatchIndices indices_;
  uint32_t state_ = 1;
};

}  // namespace peruse
