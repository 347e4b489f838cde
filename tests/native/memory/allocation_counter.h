// Counts heap allocations: operator new in every form, and with the address sanitizer also malloc and similar functions.
#pragma once

#include <cstdint>

namespace peruse::testing {

int64_t Allocations();

}  // namespace peruse::testing
