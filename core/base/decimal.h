// Any decimal number, correctly rounded. For the rare ones: usual ones are read faster by core/base/json.cc.
#pragma once

#include <string_view>

namespace peruse {

// `text` is a JSON number: digits, perhaps a point and an exponent. Half to even; underflow is zero, overflow infinity. In integers alone: C's
// strtod brings arithmetic of 128-bit floats into a WebAssembly module.
double DecimalToDouble(std::string_view text);

}  // namespace peruse
