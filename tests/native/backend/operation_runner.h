// Runs a conformance case on a backend.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "tests/native/backend/operation_case.h"

namespace peruse::testing {

struct HostMatrix {
  int32_t rows = 0;
  int32_t cols = 0;
  std::vector<float> values;
  bool by_token = false;  // a row belongs to a token of the batch (and not: a weight, a table)

  float at(int64_t row, int64_t col) const { return values[static_cast<size_t>(row * cols + col)]; }
};

// The operands of a case, in the order of the operation's arguments, a weight's bias after it and a norm's weight and
// bias at the end. The same for every call.
std::vector<HostMatrix> MakeOperands(const OperationCase& c);

// The slots table of a case, and its reach.
std::vector<int32_t> MakeSlots(const OperationCase& c);
int32_t Reach(const OperationCase& c);

// The rows that a kSelectRows case selects.
std::vector<int32_t> SelectedRows(const OperationCase& c);

struct Outcome {
  Status status;
  std::vector<HostMatrix> outputs;  // the output; then probabilities or kernels, if the case wants them
  std::string stray_write;          // where something outside the outputs was written; empty if nowhere
};

Outcome RunCase(Backend& backend, const OperationCase& c, const std::vector<HostMatrix>& operands);

}  // namespace peruse::testing
