// Converts any decimal number with correct rounding. core/base/json.cc reads the usual numbers faster and calls this for the others.
#pragma once

#include <string_view>

namespace peruse {

// `text` is a JSON number. Rounds half to even; underflow gives zero, overflow infinity. Uses integers only, because C's strtod adds
// 128-bit float arithmetic to a WebAssembly module.
double DecimalToDouble(std::string_view text);

}  // namespace peruse
