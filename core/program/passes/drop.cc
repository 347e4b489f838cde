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
  if (ReadsOf(program.ops[static_cast<size_t>(producer)]) != Reads::kSameRow) return false;

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

Program DropInputs(Program program) {
  std::vector<bool> absent(program.values.size());
  // For each value that an absent input multiplies: the product, which the value's producer then writes instead.
  std::vector<Value> instead(program.values.size());
  std::vector<Op> ops;
  for (Op& op : program.ops) {
    if (const auto* input = std::get_if<ops::Input>(&op); input != nullptr && input->optional) {
      absent[static_cast<size_t>(input->out.id)] = true;
      continue;
    }
    const auto* product = std::get_if<ops::Multiply>(&op);
    if (product != nullptr && absent[static_cast<size_t>(product->y.id)]) {
      instead[static_cast<size_t>(product->x.id)] = product->out;
      continue;
    }
    ops.push_back(std::move(op));
  }
  for (Op& op : ops) {
    for (Value* value : OutputsOf(op)) {
      if (const Value other = instead[static_cast<size_t>(value->id)]; other.valid()) *value = other;
    }
  }
  program.ops = std::move(ops);
  return program;
}

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
