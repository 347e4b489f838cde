// How far a float32 backend may be from the reference, cell by cell: k * epsilon * the sum of absolute products that
// the cell is made of (tolerances.h).
#pragma once

#include <vector>

#include "tests/native/backend/operation_case.h"
#include "tests/native/backend/operation_runner.h"

namespace peruse::testing {

// One bound for every cell of every output. `expected` is the reference's outcome.
std::vector<std::vector<double>> ErrorBounds(const OperationCase& c, const std::vector<HostMatrix>& operands,
                                             const Outcome& expected);

}  // namespace peruse::testing
