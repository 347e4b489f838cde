// The meaning of Backend's operations, runnable: plain loops, everything held and computed in double.
// Slow by intent; every other backend is tested against it.
#pragma once

#include <memory>

#include "core/backend/backend.h"

namespace peruse {

// Every Precision is held as double. The workspace starts as NaN, so that reading what nobody wrote shows.
std::unique_ptr<Backend> CreateReferenceBackend();

}  // namespace peruse
