// Every tolerance of the native tests, and why it is what it is. Loosen none to make a test pass.
#pragma once

namespace peruse::tolerance {

// Twice the unit roundoff of float32: the distance from 1 to its neighbour.
inline constexpr double kEpsilon = 1.1920928955078125e-7;

// A float32 sum of products, against epsilon times the sum of absolute products. Worst case: terms / 2. In truth the
// roundings are independent, each half an epsilon of the partial sum at most, and partial sums of products of random
// sign grow with the square root of the number of terms: together 0.27 root-mean-square, whatever the number of terms.
// The worst of the list's 10^5 cells, whose partial sums happen to stray far from zero, is about eight times that:
// 2.2. 3 leaves a little room; a missing, doubled or misplaced term is wrong by thousands.
inline constexpr double kDot = 3;

// Our vector functions (exp, sigmoid, tanh, GELU) are within 4 epsilon of the function's scale max(|x|, 1).
inline constexpr double kActivation = 4;

// The largest slope of any activation (GELU's and its kin's is 1.13): how it passes on its argument's error.
inline constexpr double kActivationSlope = 1.2;

// Normalising: mean, variance, square root, quotient, weight and bias are rounded once each.
inline constexpr double kNorm = 4;

// A softmax term relative to itself, given exact scores: exp to 2 epsilon, the sum to 2, the quotient to 1.
inline constexpr double kSoftmax = 6;

}  // namespace peruse::tolerance
