// Who makes each value and who reads it. A block of columns counts as the value that holds it.
#pragma once

#include <vector>

#include "core/program/program.h"

namespace peruse {

class Uses {
 public:
  explicit Uses(const Program& program);

  // The operation that makes the value; null: a constant, or not made yet.
  int32_t producer(Value value) const { return producer_[static_cast<size_t>(program_.Root(value).id)]; }
  // Operands and outputs that are the value, or columns of it.
  int32_t count(Value value) const { return count_[static_cast<size_t>(program_.Root(value).id)]; }
  // Whether the operation that makes `value` is an `AnyOp` whose result is read once, as a whole.
  template <typename AnyOp>
  const AnyOp* OnlyFor(Value value) const {
    if (!value.valid() || program_.info(value).base >= 0 || count(value) != 1 || producer(value) < 0) return nullptr;
    return std::get_if<AnyOp>(&program_.ops[static_cast<size_t>(producer(value))]);
  }

 private:
  const Program& program_;
  std::vector<int32_t> producer_;  // by value; -1: none
  std::vector<int32_t> count_;
};

}  // namespace peruse
