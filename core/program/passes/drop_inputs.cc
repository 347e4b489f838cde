#include <utility>
#include <vector>

#include "core/program/passes/passes.h"
#include "core/program/passes/uses.h"

namespace peruse {

Program DropInputs(Program program) {
  std::vector<bool> brought(program.values.size());
  // For each value that an absent input multiplies: the product, which the value's producer then writes instead.
  std::vector<Value> instead(program.values.size());
  std::vector<Op> ops;
  for (Op& op : program.ops) {
    if (const auto* input = std::get_if<ops::Input>(&op); input != nullptr && input->optional) {
      brought[static_cast<size_t>(input->out.id)] = true;
      continue;
    }
    const auto* product = std::get_if<ops::Multiply>(&op);
    if (product != nullptr && brought[static_cast<size_t>(product->y.id)]) {
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

}  // namespace peruse
