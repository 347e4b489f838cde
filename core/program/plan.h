// A program that is ready to run: which values share memory, and when each output can be handed out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program/program.h"

namespace peruse {

// Memory that several values use, one after another: as many rows each, and columns up to these.
struct PlanSlot {
  Extent rows;
  Extent cols;
};

struct Plan {
  Program program;
  std::vector<PlanSlot> slots;
  std::vector<int32_t> slot_of;                // by value: of the value that holds its memory; -1: not of a run
  std::vector<std::vector<int32_t>> finished;  // by operation: outputs that can be handed out behind it
};

// Gives each value of a run a slot for as long as it is needed. An operation's results never lie where its operands do.
Plan PlanMemory(Program program);

// All passes, for the outputs of these numbers. brings_inputs: the caller brings the matrices of ops::Input (passes.h: DropInputs).
Plan PlanFor(const Program& program, std::span<const int32_t> outputs, bool brings_inputs = false);

}  // namespace peruse
