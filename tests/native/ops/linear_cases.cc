#include "core/ops/linear.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

constexpr Extent kTokenRows = {Domain::kTokens, 1};

void Plain(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const LinearId weight = p.Linear(c.cols, c.out);
  p.Add(ops::Linear{.x = x, .weight = weight, .activation = c.activation, .out = p.Output(kTokenRows, c.out)});
}

void Narrow(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const LinearId weight = p.Linear(c.cols, 3 * c.out);
  p.Add(ops::Linear{.x = x, .weight = weight, .out = p.Output(kTokenRows, c.out), .some_outputs = true});
}

void Part(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const LinearId weight = p.Linear(c.cols, 2 * ops::Linear::kPartMultiple + c.out + 5);
  p.Add(ops::Linear{.x = x,
                    .weight = weight,
                    .out = p.Output(kTokenRows, c.out),
                    .some_outputs = true,
                    .first = ops::Linear::kPartMultiple});
}

void Multiplied(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const LinearId weight = p.Linear(c.cols, c.out);
  const Value factor = p.Tokens(c.out);
  p.Add(ops::Linear{.x = x, .weight = weight, .factor = factor, .out = p.Output(kTokenRows, c.out)});
}

void Normed(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const LinearId weight = p.Linear(c.cols, c.out);
  const Value residual = p.Tokens(c.out);
  const NormArgs norm = p.Norm(c.out);
  p.Add(ops::Linear{.x = x, .weight = weight, .residual = residual, .norm = norm, .out = p.Output(kTokenRows, c.out)});
}

// Layers of which only some outputs are computed.
void AddPartCases(const char* name, WriteCase write, Cases& cases) {
  for (const int32_t out : {1, 8, 21, 200}) {
    const OpCase c = {.operation = name, .write = write, .lengths = kRagged, .cols = 48, .out = out};
    cases.push_back(c);
    cases.push_back(
        {.operation = c.operation, .write = c.write, .lengths = c.lengths, .cols = 31, .out = out, .q8 = true});
    cases.push_back(
        {.operation = c.operation, .write = c.write, .lengths = {250}, .cols = 768, .out = out, .strided_out = true});
    cases.push_back(
        {.operation = c.operation, .write = c.write, .lengths = {5}, .cols = 16, .out = out, .half_weights = true});
  }
}

void AddFloatCases(Cases& cases) {
  for (const bool normed : {false, true}) {
    const auto add = [&](OpCase c) {
      c.operation = normed ? "LinearAddNorm" : "Linear";
      c.write = normed ? Normed : Plain;
      cases.push_back(c);
    };
    // Widths of one, odd widths, and widths around the tile widths 8 and 16; one to seven rows.
    for (int32_t out : {1, 3, 7, 8, 9, 15, 16, 17, 33}) add({.lengths = {5}, .cols = 31, .out = out});
    for (int32_t rows = 1; rows <= 7; ++rows) add({.lengths = {rows}, .cols = 16, .out = 24});
    for (int32_t in : {1, 2, 5, 64}) add({.lengths = kRagged, .cols = in, .out = 12});
    add({.lengths = kRagged, .cols = 48, .out = 40, .strided_in = true});
    add({.lengths = kRagged, .cols = 48, .out = 40, .strided_out = true});
    add({.lengths = kRagged, .cols = 36, .out = 44, .groups = 2, .strided_in = true, .strided_out = true});
    add({.lengths = {6}, .cols = 28, .out = 20, .groups = 4});
    add({.lengths = kOneRow, .cols = 64, .out = 96, .groups = 4});
    add({.lengths = {250}, .cols = 700, .out = 210});
    add({.lengths = {3}, .cols = 3072, .out = 100});
    // Depths of whole tiles, in all GPU tile shapes and with slices, for rows and columns that do not fill a tile.
    add({.lengths = {100}, .cols = 768, .out = 210, .strided_in = true});
    add({.lengths = {250}, .cols = 1024, .out = 68, .strided_out = true});
    add({.lengths = {530}, .cols = 16, .out = 900});
    add({.lengths = {35}, .cols = 96, .out = 140, .groups = 2});
  }
  AddPartCases("LinearFirstOutputs", Narrow, cases);
  AddPartCases("LinearPart", Part, cases);
  for (Activation activation : {Activation::kGelu, Activation::kGeluTanh, Activation::kTanh, Activation::kRelu}) {
    cases.push_back(
        {.operation = "Linear", .write = Plain, .lengths = {9}, .cols = 40, .out = 21, .activation = activation});
  }
}

void AddHalfCases(Cases& cases) {
  for (int32_t out : {1, 7, 33, 210})
    cases.push_back({.operation = "LinearMultiply", .write = Multiplied, .lengths = kRagged, .cols = 31, .out = out});
  cases.push_back({.operation = "LinearMultiply",
                   .write = Multiplied,
                   .lengths = {250},
                   .cols = 36,
                   .out = 44,
                   .groups = 2,
                   .strided_in = true,
                   .strided_out = true,
                   .half_weights = true});
  for (int32_t out : {3, 16, 33})
    cases.push_back(
        {.operation = "Linear", .write = Plain, .lengths = kRagged, .cols = 32, .out = out, .half_weights = true});
  cases.push_back({.operation = "LinearAddNorm",
                   .write = Normed,
                   .lengths = kRagged,
                   .cols = 36,
                   .out = 44,
                   .groups = 2,
                   .half_weights = true});
  cases.push_back(
      {.operation = "Linear", .write = Plain, .lengths = {250}, .cols = 700, .out = 210, .half_weights = true});
  cases.push_back(
      {.operation = "Linear", .write = Plain, .lengths = {530}, .cols = 16, .out = 900, .half_weights = true});
  for (int32_t rows : {3, 100})
    cases.push_back({.operation = "LinearAddNorm",
                     .write = Normed,
                     .lengths = {rows},
                     .cols = 768,
                     .out = 210,
                     .half_weights = true});
}

void AddInt8Cases(Cases& cases) {
  for (bool wide : {false, true}) {
    const auto add = [&](OpCase c) {
      if (c.operation == nullptr) c.operation = "Linear", c.write = Plain;
      c.q8 = true;
      c.wide_input = wide;
      cases.push_back(c);
    };
    for (int32_t out : {1, 7, 8, 9, 16, 17, 33}) add({.lengths = {5}, .cols = 31, .out = out});
    for (int32_t rows : {1, 2, 3, 4}) add({.lengths = {rows}, .cols = 16, .out = 24});
    for (int32_t in : {1, 2, 3, 64}) add({.lengths = kRagged, .cols = in, .out = 12});
    add({.lengths = {9}, .cols = 40, .out = 21, .activation = Activation::kGelu});
    add({.lengths = {250}, .cols = 700, .out = 210});
    add({.lengths = {3}, .cols = 5000, .out = 20});  // fewer levels than 4095
    add({.lengths = {530}, .cols = 16, .out = 900});
    add({.lengths = {6}, .cols = 28, .out = 20, .groups = 4});
    add({.operation = "LinearAddNorm",
         .write = Normed,
         .lengths = kRagged,
         .cols = 36,
         .out = 44,
         .groups = 2,
         .strided_in = true,
         .strided_out = true});
    add({.operation = "LinearMultiply",
         .write = Multiplied,
         .lengths = kRagged,
         .cols = 31,
         .out = 33,
         .strided_out = true});
  }
}

}  // namespace

void AddLinearCases(Cases& cases) {
  AddFloatCases(cases);
  AddHalfCases(cases);
  AddInt8Cases(cases);
}

}  // namespace peruse::testing
