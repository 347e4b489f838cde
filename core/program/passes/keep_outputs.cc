#include <utility>
#include <vector>

#include "core/program/passes/passes.h"

namespace peruse {

Program KeepOutputs(Program program, std::span<const int32_t> outputs) {
  std::vector<ProgramOutput> kept;
  for (const int32_t index : outputs) kept.push_back(program.outputs[static_cast<size_t>(index)]);
  program.outputs = std::move(kept);

  std::vector<bool> needed(program.values.size());
  const auto root = [&](Value value) { return static_cast<size_t>(program.Root(value).id); };
  for (const ProgramOutput& output : program.outputs) needed[root(output.value)] = true;
  std::vector<Op> ops;  // the remaining operations, in reverse order
  for (auto op = program.ops.rbegin(); op != program.ops.rend(); ++op) {
    bool alive = false;
    for (const Value* value : OutputsOf(*op)) alive = alive || needed[root(*value)];
    if (!alive) continue;
    // Attention probabilities and span kernels are only computed on request.
    if (auto* attention = std::get_if<ops::Attention>(&*op)) {
      if (attention->probabilities.valid() && !needed[root(attention->probabilities)]) attention->probabilities = {};
    } else if (auto* conv = std::get_if<ops::SpanConv>(&*op)) {
      if (conv->kernels.valid() && !needed[root(conv->kernels)]) conv->kernels = {};
    }
    for (const Value* value : InputsOf(*op)) needed[root(*value)] = true;
    ops.push_back(std::move(*op));
  }
  program.ops.assign(std::make_move_iterator(ops.rbegin()), std::make_move_iterator(ops.rend()));
  return program;
}

}  // namespace peruse
