#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/program.h"

namespace peruse {

// Memory that several values use one after another: all of them have this number of rows, and at most these columns.
struct PlanSlot {
  Extent rows;
  Extent cols;
};

struct Plan {
  Program program;
  std::vector<PlanSlot> slots;
  // For each value, the slot of the value that owns its memory; -1 if a run does not compute it.
  std::vector<int32_t> slot_of;
  std::vector<std::vector<int32_t>> finished;  // for each operation, the outputs that are complete after it
};

// Assigns a memory slot to each value of a run for its lifetime. Results of an operation never share memory with its operands.
Plan PlanMemory(Program program);

// Applies all passes for these outputs. brings_inputs: the caller provides the matrices of ops::Input (see DropInputs in passes.h).
Plan PlanFor(const Program& program, std::span<const int32_t> outputs, bool brings_inputs = false);

}  // namespace peruse
