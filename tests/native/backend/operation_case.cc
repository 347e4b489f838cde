#include "tests/native/backend/operation_case.h"

#include <algorithm>
#include <numeric>

namespace peruse::testing {
namespace {

using Op = Operation;

const char* Name(Operation operation) {
  switch (operation) {
    case Op::kLinear:
      return "Linear";
    case Op::kLinearMultiply:
      return "LinearMultiply";
    case Op::kLinearAddNorm:
      return "LinearAddNorm";
    case Op::kLayerNorm:
      return "LayerNorm";
    case Op::kAddNorm:
      return "AddNorm";
    case Op::kAttention:
      return "Attention";
    case Op::kDisentangledAttention:
      return "DisentangledAttention";
    case Op::kDepthwiseConv:
      return "DepthwiseConv";
    case Op::kSpanConv:
      return "SpanConv";
    case Op::kLinearSpanConv:
      return "LinearSpanConv";
    case Op::kConv1d:
      return "Conv1d";
    case Op::kMultiply:
      return "Multiply";
    case Op::kAdd:
      return "Add";
    case Op::kActivate:
      return "Activate";
    case Op::kSelectRows:
      return "SelectRows";
  }
  return "";
}

const std::vector<int32_t> kOneRow = {1};
const std::vector<int32_t> kRagged = {1, 2, 3, 17};

void AddLinear(std::vector<OperationCase>& cases) {
  for (Operation op : {Op::kLinear, Op::kLinearAddNorm}) {
    // Odd widths, widths of one, just below, at and just above the tile widths 8 and 16; one to seven rows.
    for (int32_t out : {1, 3, 7, 8, 9, 15, 16, 17, 33}) {
      cases.push_back({.operation = op, .lengths = {5}, .cols = 31, .out = out});
    }
    for (int32_t rows = 1; rows <= 7; ++rows) {
      cases.push_back({.operation = op, .lengths = {rows}, .cols = 16, .out = 24});
    }
    for (int32_t in : {1, 2, 5, 64}) cases.push_back({.operation = op, .lengths = kRagged, .cols = in, .out = 12});
    cases.push_back({.operation = op, .lengths = kRagged, .cols = 48, .out = 40, .strided_in = true});
    cases.push_back({.operation = op, .lengths = kRagged, .cols = 48, .out = 40, .strided_out = true});
    cases.push_back({.operation = op,
                     .lengths = kRagged,
                     .cols = 36,
                     .out = 44,
                     .groups = 2,
                     .strided_in = true,
                     .strided_out = true});
    cases.push_back({.operation = op, .lengths = {6}, .cols = 28, .out = 20, .groups = 4});
    cases.push_back({.operation = op, .lengths = kOneRow, .cols = 64, .out = 96, .groups = 4});
    // Several blocks of panels and of rows.
    cases.push_back({.operation = op, .lengths = {250}, .cols = 700, .out = 210});
    cases.push_back({.operation = op, .lengths = {3}, .cols = 3072, .out = 100});
  }
  for (int32_t out : {1, 7, 33, 210}) {
    cases.push_back({.operation = Op::kLinearMultiply, .lengths = kRagged, .cols = 31, .out = out});
  }
  cases.push_back({.operation = Op::kLinearMultiply,
                   .lengths = {250},
                   .cols = 36,
                   .out = 44,
                   .groups = 2,
                   .strided_in = true,
                   .strided_out = true,
                   .half_weights = true});
  for (int32_t out : {3, 16, 33}) {
    cases.push_back({.operation = Op::kLinear, .lengths = kRagged, .cols = 32, .out = out, .half_weights = true});
  }
  cases.push_back(
      {.operation = Op::kLinearAddNorm, .lengths = kRagged, .cols = 36, .out = 44, .groups = 2, .half_weights = true});
  cases.push_back({.operation = Op::kLinear, .lengths = {250}, .cols = 700, .out = 210, .half_weights = true});
  cases.push_back({.operation = Op::kConv1d,
                   .lengths = kRagged,
                   .cols = 24,
                   .out = 20,
                   .groups = 2,
                   .kernel = 3,
                   .half_weights = true});
  for (Activation activation : {Activation::kGelu, Activation::kGeluTanh, Activation::kTanh, Activation::kRelu}) {
    cases.push_back({.operation = Op::kLinear, .lengths = {9}, .cols = 40, .out = 21, .activation = activation});
  }
}

void AddQuantized(std::vector<OperationCase>& cases) {
  for (bool wide : {false, true}) {
    const auto add = [&](OperationCase c) {
      c.q8 = true;
      c.wide_input = wide;
      cases.push_back(c);
    };
    for (int32_t out : {1, 7, 8, 9, 16, 17, 33})
      add({.operation = Op::kLinear, .lengths = {5}, .cols = 31, .out = out});
    for (int32_t rows : {1, 2, 3, 4}) add({.operation = Op::kLinear, .lengths = {rows}, .cols = 16, .out = 24});
    for (int32_t in : {1, 2, 3, 64}) add({.operation = Op::kLinear, .lengths = kRagged, .cols = in, .out = 12});
    add({.operation = Op::kLinear, .lengths = {9}, .cols = 40, .out = 21, .activation = Activation::kGelu});
    add({.operation = Op::kLinear, .lengths = {250}, .cols = 700, .out = 210});
    add({.operation = Op::kLinear, .lengths = {3}, .cols = 5000, .out = 20});  // fewer levels than 4095
    add({.operation = Op::kLinear, .lengths = {6}, .cols = 28, .out = 20, .groups = 4});
    add({.operation = Op::kLinearAddNorm,
         .lengths = kRagged,
         .cols = 36,
         .out = 44,
         .groups = 2,
         .strided_in = true,
         .strided_out = true});
    for (int32_t groups : {1, 2}) {
      add({.operation = Op::kConv1d,
           .lengths = kRagged,
           .cols = 24,
           .out = 20,
           .groups = groups,
           .kernel = 3,
           .activation = Activation::kGelu});
    }
    add({.operation = Op::kLinearMultiply, .lengths = kRagged, .cols = 31, .out = 33, .strided_out = true});
    add({.operation = Op::kLinearSpanConv, .lengths = kRagged, .cols = 30, .heads = 3, .kernel = 9});
    add({.operation = Op::kLinearSpanConv,
         .lengths = {5, 40},
         .cols = 32,
         .heads = 2,
         .kernel = 5,
         .strided_in = true,
         .strided_out = true,
         .extra_output = true});
  }
}

void AddNorms(std::vector<OperationCase>& cases) {
  for (Operation op : {Op::kLayerNorm, Op::kAddNorm}) {
    for (int32_t cols : {1, 2, 3, 7, 8, 9, 31, 768}) {
      cases.push_back({.operation = op, .lengths = {4}, .cols = cols});
    }
    cases.push_back({.operation = op, .lengths = kRagged, .cols = 37, .strided_in = true, .strided_out = true});
    // The variance of values that hardly differ: one pass of squares would lose all of it.
    cases.push_back({.operation = op, .lengths = {3}, .cols = 100, .offset = 1000});
  }
}

void AddAttention(std::vector<OperationCase>& cases) {
  for (int32_t head_dim : {1, 7, 16, 24, 48, 64, 80}) {
    cases.push_back({.operation = Op::kAttention, .lengths = kRagged, .cols = 2 * head_dim, .heads = 2});
    cases.push_back({.operation = Op::kDisentangledAttention,
                     .lengths = kRagged,
                     .cols = 2 * head_dim,
                     .heads = 2,
                     .position_key = true,
                     .position_query = true,
                     .slots = Slots::kLogBucket});
  }
  for (Operation op : {Op::kAttention, Op::kDisentangledAttention}) {
    const bool positions = op == Op::kDisentangledAttention;
    cases.push_back({.operation = op,
                     .lengths = kOneRow,
                     .cols = 16,
                     .heads = 1,
                     .position_key = positions,
                     .position_query = positions,
                     .extra_output = true});
    cases.push_back({.operation = op,
                     .lengths = {59, 60, 61},
                     .cols = 48,
                     .heads = 3,
                     .position_key = positions,
                     .position_query = positions,
                     .extra_output = true});
    cases.push_back({.operation = op,
                     .lengths = kRagged,
                     .cols = 36,
                     .heads = 3,
                     .strided_in = true,
                     .strided_out = true,
                     .position_key = positions,
                     .position_query = positions,
                     .extra_output = true});
  }
  for (Slots slots : {Slots::kExact, Slots::kClamped, Slots::kLogBucket, Slots::kScrambled}) {
    for (int terms = 0; terms < 4; ++terms) {
      cases.push_back({.operation = Op::kDisentangledAttention,
                       .lengths = {40, 1, 13},
                       .cols = 32,
                       .heads = 2,
                       .position_key = (terms & 1) != 0,
                       .position_query = (terms & 2) != 0,
                       .slots = slots});
    }
    // Several tiles of queries.
    cases.push_back({.operation = Op::kDisentangledAttention,
                     .lengths = {150},
                     .cols = 16,
                     .heads = 1,
                     .position_key = true,
                     .position_query = true,
                     .slots = slots});
  }
}

void AddConvolutions(std::vector<OperationCase>& cases) {
  for (int32_t kernel : {1, 3, 5, 9, 31}) {
    cases.push_back({.operation = Op::kDepthwiseConv, .lengths = kRagged, .cols = 21, .kernel = kernel});
    cases.push_back({.operation = Op::kSpanConv, .lengths = kRagged, .cols = 30, .heads = 3, .kernel = kernel});
    cases.push_back({.operation = Op::kLinearSpanConv, .lengths = kRagged, .cols = 30, .heads = 3, .kernel = kernel});
    cases.push_back({.operation = Op::kConv1d, .lengths = kRagged, .cols = 10, .out = 14, .kernel = kernel});
  }
  for (int32_t head_dim : {16, 24, 48, 64, 80}) {
    cases.push_back({.operation = Op::kSpanConv,
                     .lengths = {19},
                     .cols = 2 * head_dim,
                     .heads = 2,
                     .kernel = 9,
                     .extra_output = true});
    cases.push_back({.operation = Op::kLinearSpanConv,
                     .lengths = {19, 33},
                     .cols = 2 * head_dim,
                     .heads = 2,
                     .kernel = 9,
                     .half_weights = head_dim != 48});
  }
  cases.push_back({.operation = Op::kLinearSpanConv, .lengths = {5, 40}, .cols = 30, .heads = 3, .kernel = 99});
  for (Operation op : {Op::kDepthwiseConv, Op::kSpanConv, Op::kLinearSpanConv, Op::kConv1d}) {
    cases.push_back({.operation = op,
                     .lengths = {5, 40},
                     .cols = 32,
                     .out = 24,
                     .heads = 2,
                     .kernel = 5,
                     .strided_in = true,
                     .strided_out = true,
                     .extra_output = true});
    cases.push_back({.operation = op, .lengths = kOneRow, .cols = 32, .out = 24, .heads = 2, .kernel = 9});
  }
  for (int32_t groups : {2, 4}) {
    cases.push_back({.operation = Op::kConv1d,
                     .lengths = kRagged,
                     .cols = 24,
                     .out = 20,
                     .groups = groups,
                     .kernel = 3,
                     .activation = Activation::kGelu});
  }
}

void AddElementwise(std::vector<OperationCase>& cases) {
  for (int32_t cols : {1, 3, 4, 7, 8, 9, 33}) {
    cases.push_back({.operation = Op::kMultiply, .lengths = {3}, .cols = cols});
    cases.push_back({.operation = Op::kAdd, .lengths = {3}, .cols = cols});
    cases.push_back({.operation = Op::kSelectRows, .lengths = {3}, .cols = cols});
  }
  cases.push_back({.operation = Op::kAdd, .lengths = kRagged, .cols = 21, .broadcast = true});
  for (Operation op : {Op::kMultiply, Op::kAdd, Op::kSelectRows, Op::kActivate}) {
    cases.push_back({.operation = op, .lengths = kRagged, .cols = 21, .strided_in = true, .strided_out = true});
  }
  for (int activation = 0; activation <= static_cast<int>(Activation::kSigmoid); ++activation) {
    cases.push_back({.operation = Op::kActivate,
                     .lengths = {23, 17},
                     .cols = 61,
                     .activation = static_cast<Activation>(activation)});
  }
}

}  // namespace

int32_t OperationCase::rows() const { return std::accumulate(lengths.begin(), lengths.end(), 0); }
int32_t OperationCase::longest() const { return *std::max_element(lengths.begin(), lengths.end()); }

std::string OperationCase::name() const {
  std::string name = Name(operation);
  const auto add = [&name](const char* label, int32_t value) {
    name += "_" + std::string(label) + std::to_string(value);
  };
  for (int32_t length : lengths) add("", length);
  add("cols", cols);
  if (out > 0) add("out", out);
  if (groups > 1) add("groups", groups);
  if (heads > 1) add("heads", heads);
  if (kernel > 0) add("kernel", kernel);
  if (activation != Activation::kNone) add("act", static_cast<int32_t>(activation));
  if (operation == Operation::kDisentangledAttention) add("slots", static_cast<int32_t>(slots));
  if (position_key) name += "_c2p";
  if (position_query) name += "_p2c";
  if (strided_in) name += "_stridedIn";
  if (strided_out) name += "_stridedOut";
  if (extra_output) name += "_extra";
  if (broadcast) name += "_broadcast";
  if (half_weights) name += "_half";
  if (q8) name += wide_input ? "_q8wide" : "_q8";
  if (offset != 0) name += "_offset";
  return name;
}

std::vector<OperationCase> AllCases() {
  std::vector<OperationCase> cases;
  AddLinear(cases);
  AddQuantized(cases);
  AddNorms(cases);
  AddAttention(cases);
  AddConvolutions(cases);
  AddElementwise(cases);
  return cases;
}

}  // namespace peruse::testing
