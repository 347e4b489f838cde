// Counts this program's heap allocations: operator new in every form, and with the address sanitizer also malloc and similar functions.
#pragma once

#include <cstdint>

namespace peruse::testing {

// Since the first call, on all threads.
int64_t Allocations();

}  // namespace peruse::testing
