// Runs the definitions in core/ops in double precision. Slow by design; tests compare all other backends with it.
#pragma once

#include <memory>
#include <vector>

#include "core/backend/backend.h"

namespace peruse {

class ReferenceBackend : public Backend {
 public:
  // Bounds the error that a float32 backend may have in each cell of a result of the last run (Bound in core/ops). Precondition: values of
  // the program do not share memory, and the run's inputs still exist.
  virtual std::vector<double> ErrorBound(const Op& op, Value result) const = 0;
};

// Stores all formats as double. Values of a run are initially NaN, so that reading uninitialised values shows.
std::unique_ptr<ReferenceBackend> CreateReferenceBackend();

}  // namespace peruse
