// Dot products of two vectors. Functions of a file of their own, so that callers outside of vector code can use them.
#pragma once

#include <cstdint>

namespace peruse::cpu {

// The order of summation only depends on `count` and the build.
float Dot(const float* a, const float* b, int64_t count);
double Dot(const double* a, const double* b, int64_t count);

}  // namespace peruse::cpu
