// Every tolerance of the native tests, and why it is what it is. Loosen none to make a test pass.
#pragma once

namespace peruse::tolerance {

// Twice the unit roundoff of float32: the distance from 1 to its neighbour.
inline constexpr double kEpsilon = 1.1920928955078125e-7;

// A float32 sum of products differs from the exact one by at most (terms / 2) epsilon times the sum of absolute
// products; rounding errors being independent, by about sqrt(terms) / 2 times the typical partial sum, which is below
// one epsilon times the sum of absolute products for any number of terms. 2 leaves room for unlucky short sums.
inline constexpr double kDot = 2;

// Our vector functions (exp, sigmoid, tanh, GELU) are within 4 epsilon of the function's scale max(|x|, 1).
inline constexpr double kActivation = 4;

// The largest slope of any activation (GELU's and its kin's is 1.13): how it passes on its argument's error.
inline constexpr double kActivationSlope = 1.2;

// Normalising: mean, variance, square root, quotient, weight and bias are rounded once each.
inline constexpr double kNorm = 4;

// A softmax term relative to itself, given exact scores: exp to 2 epsilon, the sum to 2, the quotient to 1.
inline constexpr double kSoftmax = 6;

}  // namespace peruse::tolerance
