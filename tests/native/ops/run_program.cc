#include "tests/native/ops/run_program.h"

#include "core/program/plan.h"

namespace peruse::testing {

RaggedBatch BatchOf(const std::vector<int32_t>& lengths) {
  RaggedBatch batch;
  for (const int32_t length : lengths) batch.Append(length);
  return batch;
}

ProgramResult RunProgram(Backend& backend, const Program& program, const Weights& weights,
                         const ProgramInputs& inputs) {
  const RaggedBatch& batch = inputs.batch;
  Sizes sizes;
  sizes[Domain::kTokens] = batch.rows();
  sizes[Domain::kSequences] = batch.sequences();
  sizes[Domain::kLongest] = batch.longest();
  sizes[Domain::kChosen] = inputs.chosen;
  ProgramResult result;
  result.outputs.resize(program.outputs.size());
  const Plan plan = PlanMemory(program);
  result.status = backend.Run(plan, weights,
                              {.batch = batch, .sizes = sizes, .indices = inputs.indices, .matrices = inputs.matrices},
                              result.outputs);
  if (result.status.ok()) result.status = backend.Submit();
  return result;
}

Value SmallProgram::New(int32_t rows, int32_t cols) {
  return program_.NewValue({Domain::kOne, rows}, {Domain::kOne, cols});
}

Value SmallProgram::Input(int32_t rows, int32_t cols) {
  const Value value = New(rows, cols);
  Add(ops::Input{inputs_++, value});
  return value;
}

Value SmallProgram::Columns(Value x, int32_t first, int32_t count) {
  ValueInfo info = program_.info(x);
  info.base = program_.Root(x).id;
  info.first_col += first;
  info.cols.factor = count;
  program_.values.push_back(info);
  return {static_cast<int32_t>(program_.values.size()) - 1};
}

Value SmallProgram::Constant(Backend& backend, int32_t rows, int32_t cols) {
  const Value value = New(rows, cols);
  program_.info(value).constant = program_.constants++;
  weights_.constants.push_back(backend.CreateConstant(rows, cols).value());
  return value;
}

LinearId SmallProgram::Linear(Backend& backend, const LinearSpec& spec) {
  program_.linears.push_back(spec);
  weights_.linears.push_back(backend.CreateLinear(spec).value());
  return {static_cast<int32_t>(program_.linears.size()) - 1};
}

Value SmallProgram::Activated(Value x, Activation activation) {
  const Value out = program_.NewValue(program_.info(x).rows, program_.info(x).cols);
  Add(ops::Activate{x, activation, out});
  return out;
}

}  // namespace peruse::testing
