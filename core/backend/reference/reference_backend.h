// Runs the reference implementations of core/ops in double precision. Slow by design; all other backends are tested against it.
#pragma once

#include <memory>
#include <vector>

#include "core/backend/backend.h"

namespace peruse {

class ReferenceBackend : public Backend {
 public:
  // Bounds the error of a float32 backend in each cell of a result of the last run (Bound in core/ops). For programs whose values do not
  // share memory.
  virtual std::vector<double> ErrorBound(const Op& op, Value result) const = 0;
};

// Stores every Precision as double. A run's values start as NaN, so that reading uninitialised values shows.
std::unique_ptr<ReferenceBackend> CreateReferenceBackend();

}  // namespace peruse
