// Runs the references of core/ops, everything stored and computed in double. Slow by intent; every other backend is tested
// against it.
#pragma once

#include <memory>
#include <vector>

#include "core/backend/backend.h"

namespace peruse {

class ReferenceBackend : public Backend {
 public:
  // How far a float32 backend may be from a result of an operation of the last run, cell by cell (Bound in core/ops). For
  // programs whose values share no memory.
  virtual std::vector<double> ErrorBound(const Op& op, Value result) const = 0;
};

// Every Precision is stored as double. A run's values start as NaN, so that reading what nobody wrote shows.
std::unique_ptr<ReferenceBackend> CreateReferenceBackend();

}  // namespace peruse
