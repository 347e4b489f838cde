#pragma once

#include <vector>

#include "core/program/program.h"

namespace peruse {

class Uses {
 public:
  explicit Uses(const Program& program)
      : program_(program), producer_(program.values.size(), -1), count_(program.values.size(), 0) {
    const auto root = [&](Value value) { return static_cast<size_t>(program.Root(value).id); };
    for (size_t i = 0; i < program.ops.size(); ++i) {
      for (const Value* value : InputsOf(program.ops[i])) ++count_[root(*value)];
      for (const Value* value : OutputsOf(program.ops[i])) producer_[root(*value)] = static_cast<int32_t>(i);
    }
    for (const ProgramOutput& output : program.outputs) ++count_[root(output.value)];
  }

  // Returns the operation that computes the value; -1 for constants and values that are not computed yet. (A block of columns counts as the
  // value that contains it.)
  int32_t producer(Value value) const { return producer_[static_cast<size_t>(program_.Root(value).id)]; }
  // Returns how many operands and outputs are the value, or columns of it.
  int32_t count(Value value) const { return count_[static_cast<size_t>(program_.Root(value).id)]; }
  // Whether `value` is the result of an `AnyOp` and has exactly one reader, which reads all columns.
  template <typename AnyOp>
  const AnyOp* OnlyFor(Value value) const {
    if (!value.valid() || program_.info(value).base >= 0 || count(value) != 1 || producer(value) < 0) return nullptr;
    return std::get_if<AnyOp>(&program_.ops[static_cast<size_t>(producer(value))]);
  }

 private:
  const Program& program_;
  std::vector<int32_t> producer_;
  std::vector<int32_t> count_;
};

}  // namespace peruse
