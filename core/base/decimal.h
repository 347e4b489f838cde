#pragma once

#include <string_view>

namespace peruse {

// Converts a JSON number: rounds half to even, underflows to zero, overflows to infinity. Slow: core/base/json.cc reads the usual numbers.
// Uses integers only, because C's strtod adds 128-bit float arithmetic to a WebAssembly module.
double DecimalToDouble(std::string_view text);

}  // namespace peruse
