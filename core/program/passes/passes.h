// Pure functions from a program to an equal one. Families write the plain program; these make it fast.
#pragma once

#include <span>

#include "core/program/program.h"

namespace peruse {

// Only the outputs of these numbers, and only what they need: what inspection needs costs other calls nothing.
Program KeepOutputs(Program program, std::span<const int32_t> outputs);

// Without what the caller may bring (ops::Input::optional) and the products by it, whose other factor then stands for them.
Program DropInputs(Program program);

// Rows that no output reads are not computed: a selection of rows moves up past operations that work row by row, as far as
// these have no other reader. In an encoder with a pooled head it stops behind the last layer's attention.
Program DropRows(Program program);

// What depends on constants alone is computed once, by a program of its own.
struct Hoisted {
  Program load;  // its outputs are the constants that it makes
  Program run;
};
Hoisted HoistConstants(Program program);

// A linear and the activation, product or residual and norm behind it become one operation, and so do a linear and the
// span convolution whose kernels it makes, and a sum and its norm.
Program Fuse(Program program);

// Concatenations disappear: what they join is written side by side from the start.
Program PlaceColumns(Program program);

}  // namespace peruse
