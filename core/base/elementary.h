// Elementary functions in double precision, computed without large tables: those of C's log and pow alone take 6 KB of a compressed
// WebAssembly module. Accurate enough for numbers that are rounded to float32.
#pragma once

namespace peruse {

// Returns ln x with a relative error of at most 5e-16; -infinity for 0, and NaN for negative numbers and NaN.
double NaturalLog(double x);

// Returns e^x with a relative error of at most 1e-15; 0 and infinity where the result leaves the range of doubles.
double Exponential(double x);

// Returns base^exponent for a positive base, with a relative error of about 5e-16 (1 + |exponent ln base|).
double Power(double base, double exponent);

struct Direction {
  double cosine, sine;
};

// Returns the cosine and sine of an angle of up to 2^29 right angles, with an absolute error of at most 1e-15.
Direction DirectionOf(double angle);

}  // namespace peruse
