// A program ready to run: memory sharing of values, and completion of outputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/program.h"

namespace peruse {

// Memory that several values use one after another: all have this number of rows, and at most these columns.
struct PlanSlot {
  Extent rows;
  Extent cols;
};

struct Plan {
  Program program;
  std::vector<PlanSlot> slots;
  std::vector<int32_t> slot_of;  // by value: slot of the value that owns its memory; -1 if it is not computed in a run
  std::vector<std::vector<int32_t>> finished;  // by operation: outputs that are complete after it
};

// Assigns each value of a run a slot for its lifetime. An operation's results never share memory with its operands.
Plan PlanMemory(Program program);

// Applies all passes for the outputs of these numbers. brings_inputs: the caller provides the matrices of ops::Input (passes.h:
// DropInputs).
Plan PlanFor(const Program& program, std::span<const int32_t> outputs, bool brings_inputs = false);

}  // namespace peruse
