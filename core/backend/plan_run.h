// State of a run that the operations of all backends use: locations of values, and the inputs of the batch.
#pragma once

#include <span>
#include <variant>

#include "core/backend/backend.h"

namespace peruse {

class PlanRun {
 public:
  // All arguments must outlive the run.
  void Begin(const Plan& plan, const Weights& weights, const RunInputs& inputs) {
    plan_ = &plan;
    weights_ = &weights;
    inputs_ = &inputs;
  }

  const Plan& plan() const { return *plan_; }
  const RunInputs& inputs() const { return *inputs_; }
  const RaggedBatch& batch() const { return inputs_->batch; }
  int32_t size(Extent extent) const { return static_cast<int32_t>(inputs_->sizes(extent)); }

  // Returns where a value is stored: in a constant, or in a slot of the plan; the buffer is then the slot's number. Invalid if `value` is.
  Tensor at(Value value) const;
  Weight at(LinearId id) const { return weights_->linears[static_cast<size_t>(id.id)]; }
  std::span<const int32_t> at(IndexId id) const { return inputs_->indices[static_cast<size_t>(id.id)]; }
  std::span<const float> at(const ops::Input& op) const { return inputs_->matrices[static_cast<size_t>(op.number)]; }
  std::span<const EmbeddingTable> tables() const { return weights_->tables; }

  // Computes ops::Embed on the host. Rows of `out` are `stride` floats apart.
  void SumRows(const ops::Embed& op, float* out, int64_t stride) const;

 private:
  const Plan* plan_ = nullptr;
  const Weights* weights_ = nullptr;
  const RunInputs* inputs_ = nullptr;
};

// A pass has removed all concatenations (place_columns.cc).
inline Status Run(PlanRun&, const ops::Concat&) { return InternalError("a concatenation was left to be run"); }

// Calls Run(runner, op) for each operation of the current plan, and runner.Download(x, destination) for each completed output. The runner
// is a PlanRun with functions Run of its own.
template <typename Runner>
Status RunOperations(Runner& runner, RunObserver* observer, std::span<FloatBuffer> results) {
  const Program& program = runner.plan().program;
  if (observer != nullptr) observer->Begin(program, runner.inputs());
  for (size_t i = 0; i < program.ops.size(); ++i) {
    PERUSE_RETURN_IF_ERROR(std::visit([&](const auto& op) { return Run(runner, op); }, program.ops[i]));
    for (const int32_t output : runner.plan().finished[i]) {
      const Value value = program.outputs[static_cast<size_t>(output)].value;
      if (program.IsConstant(value)) continue;
      const Tensor x = runner.at(value);
      FloatBuffer& result = results[static_cast<size_t>(output)];
      PERUSE_RETURN_IF_ERROR(result.Resize(static_cast<size_t>(x.rows) * static_cast<size_t>(x.cols)));
      PERUSE_RETURN_IF_ERROR(runner.Download(x, result.values()));
    }
    if (observer != nullptr) observer->Ran(program.ops[i]);
  }
  return OkStatus();
}

}  // namespace peruse
