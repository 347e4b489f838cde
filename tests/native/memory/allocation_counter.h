// How often this program has asked for memory from the heap: operator new in every form, and with the address sanitizer
// malloc and its kin as well.
#pragma once

#include <cstdint>

namespace peruse::testing {

// Since the first call, on all threads.
int64_t Allocations();

}  // namespace peruse::testing
