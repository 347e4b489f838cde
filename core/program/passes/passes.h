// Pure functions from a program to an equivalent one. Families write the plain program; passes make it fast.
#pragma once

#include <span>

#include "core/program/program.h"

namespace peruse {

// Keeps only the outputs of these numbers and the operations that they need, so that inspection outputs cost other calls nothing.
Program KeepOutputs(Program program, std::span<const int32_t> outputs);

// Removes optional inputs (ops::Input::optional) and multiplications by them.
Program DropInputs(Program program);

// Moves row selections before row-wise operations that have no other reader, so that unused rows are not computed. In an encoder with a
// pooled head this stops after the last layer's attention.
Program DropRows(Program program);

// A program split so that values that only depend on constants are computed once.
struct Hoisted {
  Program load;  // its outputs become constants
  Program run;
};
Hoisted HoistConstants(Program program);

// Fuses a linear layer with a following activation, product or residual and norm, a linear layer with the span convolution whose kernels it
// computes, and a sum with its norm.
Program Fuse(Program program);

// Removes concatenations: producers write into the columns directly.
Program PlaceColumns(Program program);

}  // namespace peruse
