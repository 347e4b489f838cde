// Passes: functions that turn a program into an equivalent, faster one.
#pragma once

#include <span>

#include "core/program/program.h"

namespace peruse {

// Keeps these outputs and the operations that they need. Outputs for inspection then cost other calls nothing.
Program KeepOutputs(Program program, std::span<const int32_t> outputs);

// Removes optional inputs (ops::Input::optional) and the multiplications by them.
Program DropInputs(Program program);

// Moves row selections before row-wise operations that have no other reader, so that unused rows are not computed. In an encoder with a
// pooled head, selections move up to the attention of the last layer.
Program DropRows(Program program);

// A program split in two, so that values that only depend on constants are computed once.
struct Hoisted {
  Program load;  // its outputs become constants
  Program run;
};
Hoisted HoistConstants(Program program);

// Fuses a linear layer with a following activation, product, or residual and norm; with the span convolution whose kernels it computes; and
// a sum with its norm.
Program Fuse(Program program);

// Removes concatenations: producers write directly into the columns.
Program PlaceColumns(Program program);

}  // namespace peruse
