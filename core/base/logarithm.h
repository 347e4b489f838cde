// Logarithms and powers in double precision, computed without tables: those of C's log and pow take 6 KB of a compressed WebAssembly module.
// For numbers that are computed once per model, text or row.
#pragma once

namespace peruse {

// Returns ln x with a relative error of at most 5e-16; -infinity for 0, and NaN for negative numbers and NaN.
double NaturalLog(double x);

// Returns base^exponent for a positive base, with a relative error of about 5e-16 (1 + |exponent ln base|).
double Power(double base, double exponent);

}  // namespace peruse
