#include "core/model/folding.h"

#include "core/tensor/ragged_batch.h"

namespace peruse {
namespace {

const ValueInfo& ConstantOf(const Hoisted& programs, const ProgramOutput& output) {
  return programs.run.info(output.value);
}

}  // namespace

Plan FoldingPlan(const Hoisted& programs) { return PlanMemory(Fuse(programs.load)); }

Status Fold(const Hoisted& programs, const Plan& plan, Backend& backend, Weights* weights) {
  if (programs.load.ops.empty()) return OkStatus();
  for (const ProgramOutput& output : programs.load.outputs) {
    const ValueInfo& info = ConstantOf(programs, output);
    PERUSE_ASSIGN_OR_RETURN(weights->constants[static_cast<size_t>(info.constant)],
                            backend.CreateConstant(info.rows.factor, info.cols.factor));
  }
  const RaggedBatch no_texts;
  const RunInputs inputs = {.batch = no_texts};
  PERUSE_RETURN_IF_ERROR(backend.Run(plan, *weights, inputs, {}));
  return backend.Submit();
}

bool ShareFolded(const Hoisted& from_programs, const Weights& from, const Hoisted& programs, Weights* weights) {
  const std::vector<ProgramOutput>& theirs = from_programs.load.outputs;
  const std::vector<ProgramOutput>& ours = programs.load.outputs;
  if (theirs.size() != ours.size()) return false;
  // Models with the same encoder have the same constants in the same order.
  for (size_t i = 0; i < ours.size(); ++i) {
    const ValueInfo& info = ConstantOf(programs, ours[i]);
    const ValueInfo& other = ConstantOf(from_programs, theirs[i]);
    PERUSE_CHECK(info.rows == other.rows && info.cols == other.cols);
    weights->constants[static_cast<size_t>(info.constant)] = from.constants[static_cast<size_t>(other.constant)];
  }
  return true;
}

}  // namespace peruse
