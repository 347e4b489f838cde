#include <algorithm>
#include <utility>
#include <vector>

#include "core/program/passes/passes.h"
#include "core/program/passes/uses.h"

namespace peruse {
namespace {

// Inserts a selection of the rows `index` of x before operation `at`, and returns its result.
Value SelectBefore(Program& program, int32_t at, Value x, IndexId index) {
  const auto place = program.ops.begin() + at;
  for (auto op = program.ops.begin(); op != program.ops.end(); ++op) {
    const auto* known = std::get_if<ops::SelectRows>(&*op);
    if (known == nullptr || known->x != x || known->rows != index) continue;
    const Value out = known->out;
    if (op > place) std::rotate(place, op, op + 1);
    return out;
  }
  const Extent rows = program.indices[static_cast<size_t>(index.id)].extent();
  const Value out = program.NewValue(rows, program.info(x).cols);
  program.ops.insert(place, ops::SelectRows{x, index, out});
  return out;
}

// Moves one selection before the operation that computes its operand. Returns false if that is not possible.
bool MoveUp(Program& program, size_t at) {
  const auto* found = std::get_if<ops::SelectRows>(&program.ops[at]);
  if (found == nullptr || !program.indices[static_cast<size_t>(found->rows.id)].chooses()) return false;
  const ops::SelectRows select = *found;
  const Uses uses(program);
  const int32_t producer = uses.producer(select.x);
  if (producer < 0 || program.info(select.x).base >= 0 || uses.count(select.x) != 1) return false;
  if (!IsByRow(program.ops[static_cast<size_t>(producer)])) return false;

  Op moved = program.ops[static_cast<size_t>(producer)];
  program.ops.erase(program.ops.begin() + static_cast<std::ptrdiff_t>(at));
  const Extent rows = program.info(select.x).rows;
  // Found again each time, because inserting selections changes the operation's number.
  const auto number = [&] { return Uses(program).producer(select.x); };
  for (Value* input : InputsOf(moved)) {
    const bool one_for_all = program.IsConstant(*input) || program.info(*input).rows != rows;
    if (!one_for_all) *input = SelectBefore(program, number(), *input, select.rows);
  }
  *OutputsOf(moved).begin()[0] = select.out;
  std::replace(program.dropped.begin(), program.dropped.end(), select.x, select.out);
  program.ops[static_cast<size_t>(number())] = std::move(moved);
  return true;
}

}  // namespace

Program DropRows(Program program) {
  for (size_t i = 0; i < program.ops.size();) i = MoveUp(program, i) ? 0 : i + 1;
  return program;
}

}  // namespace peruse
