#include <algorithm>
#include <cstdlib>

#include "core/ops/attention.h"
#include "tests/native/ops/case_program.h"

namespace peruse::testing {
namespace {

constexpr int32_t kReach = 160;  // distances for which the tables of the cases have rows
constexpr int32_t kSlots = 2 * kReach + 1;

int32_t Bucket(Slots slots, int32_t distance) {
  switch (slots) {
    case Slots::kExact:
      return distance;
    case Slots::kClamped:
      return std::min(4, std::max(-5, distance));
    case Slots::kLogBucket: {
      const int32_t size = std::abs(distance);
      int32_t log = 0;
      while (size >> (log + 3) != 0) ++log;  // 0 below 8, then one more for each doubling
      return (distance < 0 ? -1 : 1) * (size < 8 ? size : 7 + log);
    }
    case Slots::kScrambled:
      return (distance + kReach) * 7919 / 3 % (2 * kReach) - kReach;
  }
  return distance;
}

// `groups` query heads share each of the `heads` heads of keys and values.
int32_t QueryHeads(const OpCase& c) { return c.heads * c.groups; }

ops::Attention Arguments(CaseProgram& p, const OpCase& c) {
  ops::Attention op;
  op.query = p.Tokens(c.cols);
  op.key = p.Tokens(c.cols / c.groups);
  op.value = p.Tokens(c.cols / c.groups);
  op.heads = QueryHeads(c);
  op.scale = 0.75f;
  return op;
}

IndexId SlotsOf(CaseProgram& p, const OpCase& c) {
  std::vector<int32_t> slots;
  for (int32_t distance = 1 - c.longest(); distance < c.longest(); ++distance) {
    slots.push_back(Bucket(c.slots, distance) + kReach);
  }
  return p.Indices(indices::Slots{.rows = kSlots}, slots);
}

void Finish(CaseProgram& p, const OpCase& c, ops::Attention op) {
  op.out = p.Output({Domain::kTokens, 1}, c.cols);
  if (c.extra_output) op.probabilities = p.Output({Domain::kTokens, QueryHeads(c)}, Extent{Domain::kLongest, 1});
  p.Add(op);
}

void Plain(CaseProgram& p, const OpCase& c) { Finish(p, c, Arguments(p, c)); }

void Disentangled(CaseProgram& p, const OpCase& c) {
  ops::Attention op = Arguments(p, c);
  const Value position_key = p.Constant(kSlots, c.cols);
  const Value position_query = p.Constant(kSlots, c.cols);
  if (c.position_key) op.position_key = position_key;
  if (c.position_query) op.position_query = position_query;
  op.slots = SlotsOf(p, c);
  Finish(p, c, op);
}

void Biased(CaseProgram& p, const OpCase& c) {
  ops::Attention op = Arguments(p, c);
  op.position_bias = p.Constant(kSlots, c.heads);
  op.slots = SlotsOf(p, c);
  Finish(p, c, op);
}

// `kernel` is the window.
void Windowed(CaseProgram& p, const OpCase& c) {
  ops::Attention op = Arguments(p, c);
  op.before = op.after = c.kernel;
  Finish(p, c, op);
}

// A query attends to itself and, with `kernel`, to that many keys before it, otherwise to all of them.
void Causal(CaseProgram& p, const OpCase& c) {
  ops::Attention op = Arguments(p, c);
  if (c.kernel > 0) op.before = c.kernel;
  op.after = 0;
  Finish(p, c, op);
}

// A window of `kernel` keys on both sides, or all keys without it, and a sink of each head, below and above the scores.
void WithSinks(CaseProgram& p, const OpCase& c) {
  ops::Attention op = Arguments(p, c);
  if (c.kernel > 0) op.before = op.after = c.kernel;
  op.sinks = p.Constant(1, QueryHeads(c), 0, 4);
  Finish(p, c, op);
}

}  // namespace

void AddAttentionCases(Cases& cases) {
  for (int32_t head_dim : {1, 7, 16, 24, 48, 64, 80}) {
    cases.push_back({.operation = "Attention", .write = Plain, .lengths = kRagged, .cols = 2 * head_dim, .heads = 2});
    cases.push_back({.operation = "DisentangledAttention",
                     .write = Disentangled,
                     .lengths = kRagged,
                     .cols = 2 * head_dim,
                     .heads = 2,
                     .position_key = true,
                     .position_query = true,
                     .slots = Slots::kLogBucket});
  }
  for (int32_t length : {64, 65, 150}) {
    cases.push_back({.operation = "Attention", .write = Plain, .lengths = {length}, .cols = 16, .heads = 1});
  }
  cases.push_back({.operation = "Attention", .write = Plain, .lengths = {70}, .cols = 260, .heads = 2});
  // Texts shorter than the window, equal to it, and of several tiles; windows of one key, of odd sizes, and ModernBERT's.
  for (int32_t window : {0, 1, 9, 64}) {
    const auto add = [&](OpCase c) {
      c.operation = "WindowedAttention";
      c.write = Windowed;
      c.kernel = window;
      cases.push_back(c);
    };
    add({.lengths = kRagged, .cols = 48, .heads = 3, .extra_output = true});
    add({.lengths = {64, 65, 66, 150}, .cols = 32, .heads = 2, .strided_in = true, .strided_out = true});
    add({.lengths = {331}, .cols = 20, .heads = 1, .extra_output = true});
  }
  // Texts of which only the first rows are keys: fewer rows than a panel, a text's last row but one, and texts that are shorter.
  for (int32_t keys : {1, 3, 40, 64, 72}) {
    const auto add = [&](OpCase c) {
      c.keys = keys;
      cases.push_back(c);
    };
    add({.operation = "LimitedAttention",
         .write = Plain,
         .lengths = kRagged,
         .cols = 48,
         .heads = 3,
         .extra_output = true});
    add({.operation = "LimitedAttention",
         .write = Plain,
         .lengths = {73, 41},
         .cols = 32,
         .heads = 2,
         .strided_in = true});
    add({.operation = "LimitedWindow", .write = Windowed, .lengths = {keys + 9}, .cols = 20, .heads = 1, .kernel = 9});
    add({.operation = "LimitedDisentangled",
         .write = Disentangled,
         .lengths = {74},
         .cols = 32,
         .heads = 2,
         .position_key = true,
         .position_query = true,
         .slots = Slots::kLogBucket});
  }
  // Heads that share keys and values, all of them included; causal masks, with and without a window; texts at the ends of a window.
  for (int32_t groups : {1, 2, 4}) {
    const auto add = [&](const char* name, WriteCase write, OpCase c) {
      c.operation = name;
      c.write = write;
      c.groups = groups;
      c.heads = 4 / groups;
      cases.push_back(c);
    };
    add("GroupedAttention", Plain, {.lengths = kRagged, .cols = 96, .extra_output = true});
    add("GroupedAttention", Plain, {.lengths = {70, 5}, .cols = 28, .strided_in = true, .strided_out = true});
    add("CausalAttention", Causal, {.lengths = kRagged, .cols = 64, .extra_output = true});
    add("CausalAttention", Causal, {.lengths = {150, 72, 73}, .cols = 20, .strided_in = true});
    for (int32_t before : {1, 7, 40}) {
      add("CausalWindow", Causal, {.lengths = {before, before + 1, before + 2, 131}, .cols = 64, .kernel = before});
    }
  }
  for (int32_t window : {0, 1, 9, 64}) {
    const auto add = [&](OpCase c) {
      c.operation = "SinkAttention";
      c.write = WithSinks;
      c.kernel = window;
      cases.push_back(c);
    };
    add({.lengths = kRagged, .cols = 96, .groups = 2, .heads = 2, .extra_output = true});
    add({.lengths = {64, 65, 66, 150}, .cols = 32, .heads = 2, .strided_in = true, .strided_out = true});
    add({.lengths = {331}, .cols = 20, .heads = 1, .extra_output = true});
  }
  cases.push_back(
      {.operation = "SinkLimited", .write = WithSinks, .lengths = {31, 73}, .cols = 48, .heads = 3, .keys = 65});
  for (const bool positions : {false, true}) {
    const auto add = [&](OpCase c) {
      c.operation = positions ? "DisentangledAttention" : "Attention";
      c.write = positions ? Disentangled : Plain;
      c.position_key = c.position_query = positions;
      c.extra_output = true;
      cases.push_back(c);
    };
    add({.lengths = kOneRow, .cols = 16, .heads = 1});
    add({.lengths = {59, 60, 61}, .cols = 48, .heads = 3});
    add({.lengths = kRagged, .cols = 36, .heads = 3, .strided_in = true, .strided_out = true});
  }
  for (Slots slots : {Slots::kExact, Slots::kClamped, Slots::kLogBucket, Slots::kScrambled}) {
    const auto add = [&](OpCase c) {
      c.operation = "DisentangledAttention";
      c.write = Disentangled;
      c.slots = slots;
      cases.push_back(c);
    };
    for (int terms = 0; terms < 4; ++terms) {
      add({.lengths = {40, 1, 13},
           .cols = 32,
           .heads = 2,
           .position_key = (terms & 1) != 0,
           .position_query = (terms & 2) != 0});
    }
    add({.lengths = {150}, .cols = 16, .heads = 1, .position_key = true, .position_query = true});
    cases.push_back({.operation = "BiasedAttention",
                     .write = Biased,
                     .lengths = {40, 1, 70},
                     .cols = 32,
                     .heads = 2,
                     .slots = slots});
    for (const bool several_outputs : {false, true}) {
      cases.push_back({.operation = "BiasedAttention",
                       .write = Biased,
                       .lengths = {40, 1, 150},
                       .cols = 30,
                       .heads = 3,
                       .strided_in = several_outputs,
                       .slots = slots,
                       .extra_output = several_outputs});
    }
  }
}

}  // namespace peruse::testing
