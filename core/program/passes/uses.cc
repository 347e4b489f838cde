#include "core/program/passes/uses.h"

namespace peruse {

Uses::Uses(const Program& program)
    : program_(program), producer_(program.values.size(), -1), count_(program.values.size(), 0) {
  const auto root = [&](Value value) { return static_cast<size_t>(program.Root(value).id); };
  for (size_t i = 0; i < program.ops.size(); ++i) {
    for (const Value* value : InputsOf(program.ops[i])) ++count_[root(*value)];
    for (const Value* value : OutputsOf(program.ops[i])) producer_[root(*value)] = static_cast<int32_t>(i);
  }
  for (const ProgramOutput& output : program.outputs) ++count_[root(output.value)];
}

}  // namespace peruse
