#include "core/ops/experts.h"
#include "core/ops/linear.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

constexpr Extent kTokenRows = {Domain::kTokens, 1};

int32_t WidthOf(const OpCase& c) {
  constexpr int32_t kMultiple = ops::Linear::kPartMultiple;
  return (c.out + kMultiple - 1) / kMultiple * kMultiple;
}

// Each row passes through c.heads of these.
int32_t ExpertsOf(const OpCase& c) { return c.heads + c.kernel - 1; }

void Add(CaseProgram& p, const OpCase& c, bool sums, float largest_logit, bool among_chosen = false) {
  const int32_t width = WidthOf(c);
  const Value x = p.Tokens(sums ? c.heads * c.cols : c.cols);
  const Value router = p.Tokens(ExpertsOf(c), largest_logit);
  const LinearId weight = p.Linear(c.cols, ExpertsOf(c) * width);
  p.Add(ops::Experts{.x = x,
                     .router = router,
                     .weight = weight,
                     .chosen = c.heads,
                     .sums = sums,
                     .among_chosen = among_chosen,
                     .out = p.Output(kTokenRows, sums ? width : c.heads * width)});
}

void Up(CaseProgram& p, const OpCase& c) { Add(p, c, /*sums=*/false, 3); }

void Down(CaseProgram& p, const OpCase& c) { Add(p, c, /*sums=*/true, 3); }

// Shares that sum to 1.
void Shared(CaseProgram& p, const OpCase& c) { Add(p, c, /*sums=*/true, 3, /*among_chosen=*/true); }

// Logits that are all equal: the first experts are chosen.
void Tied(CaseProgram& p, const OpCase& c) { Add(p, c, /*sums=*/true, 0); }

}  // namespace

void AddExpertsCases(Cases& cases) {
  for (const bool sums : {false, true}) {
    const auto add = [&](OpCase c) {
      c.operation = sums ? "ExpertsDown" : "ExpertsUp";
      c.write = sums ? Down : Up;
      cases.push_back(c);
    };
    // One expert, all of several, one of several, two of eight; fewer rows than experts.
    add({.lengths = kRagged, .cols = 24, .out = 64, .heads = 1, .kernel = 1});
    add({.lengths = kRagged, .cols = 24, .out = 64, .heads = 3, .kernel = 1});
    add({.lengths = {40}, .cols = 31, .out = 64, .heads = 1, .kernel = 5});
    add({.lengths = {40}, .cols = 64, .out = 128, .heads = 2, .kernel = 7});
    add({.lengths = kOneRow, .cols = 64, .out = 64, .heads = 2, .kernel = 7});
    add({.lengths = {5, 40}, .cols = 32, .out = 64, .heads = 2, .kernel = 3, .strided_in = true, .strided_out = true});
    add({.lengths = {90}, .cols = 96, .out = 192, .heads = 2, .kernel = 3, .half_weights = true});
    for (const bool wide : {false, true}) {
      add({.lengths = kRagged, .cols = 48, .out = 64, .heads = 2, .kernel = 3, .q8 = true, .wide_input = wide});
    }
  }
  for (const int32_t chosen : {1, 2, 4}) {
    cases.push_back({.operation = "ExpertsShared",
                     .write = Shared,
                     .lengths = {3, 40},
                     .cols = 32,
                     .out = 64,
                     .heads = chosen,
                     .kernel = 5});
  }
  cases.push_back(
      {.operation = "ExpertsTied", .write = Tied, .lengths = {7}, .cols = 16, .out = 64, .heads = 2, .kernel = 3});
}

}  // namespace peruse::testing
