#include "core/ops/span_conv.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

void Finish(CaseProgram& p, const OpCase& c, ops::SpanConv op) {
  op.heads = c.heads;
  op.kernel_size = c.kernel;
  op.out = p.Output({Domain::kTokens, 1}, c.cols);
  if (c.extra_output) op.kernels = p.Output({Domain::kTokens, 1}, c.heads * c.kernel);
  p.Add(op);
}

void OfLogits(CaseProgram& p, const OpCase& c) {
  const Value logits = p.Tokens(c.heads * c.kernel, 4);
  Finish(p, c, {.logits = logits, .values = p.Tokens(c.cols)});
}

void OfLinear(CaseProgram& p, const OpCase& c) {
  const Value x = p.Tokens(c.cols);
  const LinearId weight = p.Linear(c.cols, c.heads * c.kernel);
  Finish(p, c, {.logits = x, .weight = weight, .values = p.Tokens(c.cols)});
}

}  // namespace

void AddSpanConvCases(Cases& cases) {
  for (const bool linear : {false, true}) {
    const auto add = [&](OpCase c) {
      c.operation = linear ? "LinearSpanConv" : "SpanConv";
      c.write = linear ? OfLinear : OfLogits;
      cases.push_back(c);
    };
    for (int32_t kernel : {1, 3, 5, 9, 31}) add({.lengths = kRagged, .cols = 30, .heads = 3, .kernel = kernel});
    add({.lengths = {5, 40},
         .cols = 32,
         .out = 24,
         .heads = 2,
         .kernel = 5,
         .strided_in = true,
         .strided_out = true,
         .extra_output = true});
    add({.lengths = kOneRow, .cols = 32, .out = 24, .heads = 2, .kernel = 9});
  }
  for (int32_t head_dim : {16, 24, 48, 64, 80}) {
    cases.push_back({.operation = "SpanConv",
                     .write = OfLogits,
                     .lengths = {19},
                     .cols = 2 * head_dim,
                     .heads = 2,
                     .kernel = 9,
                     .extra_output = true});
    cases.push_back({.operation = "LinearSpanConv",
                     .write = OfLinear,
                     .lengths = {19, 33},
                     .cols = 2 * head_dim,
                     .heads = 2,
                     .kernel = 9,
                     .half_weights = head_dim != 48});
  }
  // Depths that are multiples of the depth of the fused kernel's tiles, and 63 taps, which it computes nine by nine.
  for (int32_t depth : {64, 192, 256}) {
    for (bool half_weights : {false, true}) {
      cases.push_back({.operation = "LinearSpanConv",
                       .write = OfLinear,
                       .lengths = {1, 15, 33},
                       .cols = depth,
                       .heads = 4,
                       .kernel = depth == 192 ? 63 : 9,
                       .half_weights = half_weights});
    }
  }
  cases.push_back(
      {.operation = "LinearSpanConv", .write = OfLinear, .lengths = {5, 40}, .cols = 30, .heads = 3, .kernel = 99});
  for (bool wide : {false, true}) {
    cases.push_back({.operation = "LinearSpanConv",
                     .write = OfLinear,
                     .lengths = kRagged,
                     .cols = 30,
                     .heads = 3,
                     .kernel = 9,
                     .q8 = true,
                     .wide_input = wide});
    cases.push_back({.operation = "LinearSpanConv",
                     .write = OfLinear,
                     .lengths = {5, 40},
                     .cols = 32,
                     .heads = 2,
                     .kernel = 5,
                     .strided_in = true,
                     .strided_out = true,
                     .extra_output = true,
                     .q8 = true,
                     .wide_input = wide});
  }
}

}  // namespace peruse::testing
