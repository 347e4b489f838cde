#include <algorithm>
#include <utility>
#include <vector>

#include "core/program/passes/passes.h"

namespace peruse {
namespace {

std::vector<bool> Fixed(const Program& program) {
  std::vector<bool> fixed(program.values.size());
  for (size_t i = 0; i < fixed.size(); ++i) fixed[i] = program.values[i].constant >= 0;
  for (const Op& op : program.ops) {
    bool all = ReadsOf(op) != Reads::kBatch;
    for (const Value* value : InputsOf(op)) all = all && fixed[static_cast<size_t>(program.Root(*value).id)];
    if (!all) continue;
    for (const Value* value : OutputsOf(op)) fixed[static_cast<size_t>(program.Root(*value).id)] = true;
  }
  return fixed;
}

// Trims trailing output columns that are never read. (DeBERTa's position tables pass through the stacked query, key and value layers, but
// only queries and keys are used.)
void DropColumns(Program& program) {
  for (Op& op : program.ops) {
    auto* linear = std::get_if<ops::Linear>(&op);
    if (linear == nullptr || !linear->plain() || linear->some_outputs ||
        program.linears[static_cast<size_t>(linear->weight.id)].groups != 1)
      continue;
    if (program.info(linear->out).base >= 0) continue;
    int32_t end = 0;
    const auto read = [&](Value value) {
      const ValueInfo& info = program.info(value);
      if (program.Root(value) == linear->out) end = std::max(end, info.first_col + info.cols.factor);
    };
    for (const Op& reader : program.ops) {
      for (const Value* value : InputsOf(reader)) read(*value);
    }
    for (const ProgramOutput& output : program.outputs) read(output.value);
    int32_t& cols = program.info(linear->out).cols.factor;
    if (end == 0 || end == cols) continue;
    linear->some_outputs = true;
    cols = end;
  }
}

}  // namespace

Hoisted HoistConstants(Program program) {
  const std::vector<bool> fixed = Fixed(program);
  const auto is_fixed = [&](Value value) { return fixed[static_cast<size_t>(program.Root(value).id)]; };
  Hoisted result;
  std::vector<Op> run;
  for (Op& op : program.ops) {
    (is_fixed(**OutputsOf(op).begin()) ? result.load.ops : run).push_back(std::move(op));
  }
  program.ops = std::move(run);

  // Results that a run reads become constants. Columns of a wider value are copied, so that the wider value can be freed.
  std::vector<ops::Activate> copies;
  for (Op& op : program.ops) {
    for (const Value* value : InputsOf(op)) {
      const bool known = program.IsConstant(*value) || program.info(*value).constant >= 0;
      if (known || !is_fixed(*value)) continue;
      result.load.outputs.push_back({{}, *value});
      if (program.info(*value).base >= 0) {
        const ValueInfo columns = program.info(*value);
        program.values.push_back(columns);
        const Value source = {static_cast<int32_t>(program.values.size()) - 1};
        copies.push_back(ops::Activate{source, Activation::kNone, *value});
      }
      ValueInfo& info = program.info(*value);
      info.base = -1;
      info.first_col = 0;
      info.constant = program.constants++;
    }
  }
  std::vector<Op> load = std::move(result.load.ops);
  for (const ops::Activate& copy : copies) {
    const Value whole = program.Root(copy.x);
    const auto writes = [&](const Op& op) {
      for (const Value* out : OutputsOf(op)) {
        if (program.Root(*out) == whole) return true;
      }
      return false;
    };
    load.push_back(copy);
    for (size_t i = load.size() - 1; i > 0 && !writes(load[i - 1]); --i) std::swap(load[i], load[i - 1]);
  }
  std::vector<ProgramOutput> outputs = std::move(result.load.outputs);
  result.run = program;
  result.load = std::move(program);
  result.load.ops = std::move(load);
  result.load.outputs = std::move(outputs);
  DropColumns(result.load);
  return result;
}

}  // namespace peruse
