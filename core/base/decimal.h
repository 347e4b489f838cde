#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace peruse {

// Numbers as text, and back. Uses integers only, because C's strtod and printf add 128-bit float arithmetic to a WebAssembly module.

// Converts a JSON number: rounds half to even, underflows to zero, overflows to infinity. Slow: core/base/json.cc reads the usual numbers.
double DecimalToDouble(std::string_view text);

// Returns a finite number with `digits` significant digits (1 to 17), rounded half to even, without trailing zeros, as printf's %g.
std::string DoubleToDecimal(double value, int32_t digits);
// Returns the fewest digits that DecimalToDouble turns into the same number, without an exponent, with at least one digit after the point.
std::string ShortestDecimal(double value);

}  // namespace peruse
