#include <gtest/gtest.h>

#include "core/program/flops.h"
#include "core/program/program.h"
#include "core/program/token_indices.h"

namespace peruse {
namespace {

constexpr Extent kTokenRows = {Domain::kTokens, 1};

class ShapesTest : public ::testing::Test {
 protected:
  Value New(int32_t cols, Extent rows = kTokenRows) { return program_.NewValue(rows, {Domain::kOne, cols}); }
  Value Constant(int32_t rows, int32_t cols) {
    const Value value = New(cols, {Domain::kOne, rows});
    program_.info(value).constant = program_.constants++;
    return value;
  }
  Value Columns(Value x, int32_t first, int32_t count) {
    program_.values.push_back({program_.info(x).rows, {Domain::kOne, count}, x.id, first});
    return {static_cast<int32_t>(program_.values.size()) - 1};
  }
  LinearId Linear(const LinearSpec& spec) {
    program_.linears.push_back(spec);
    return {static_cast<int32_t>(program_.linears.size()) - 1};
  }
  IndexId NewIndex(const Index& index) {
    program_.indices.push_back(index);
    return {static_cast<int32_t>(program_.indices.size()) - 1};
  }
  template <typename AnyOp>
  bool Sound(const AnyOp& op) {
    program_.ops = {op};
    return IsSound(program_);
  }

  Program program_;
};

TEST_F(ShapesTest, Linear) {
  const LinearId weight = Linear({.in = 4, .out = 6});
  const NormArgs norm = {Constant(1, 6), Constant(1, 6), 1e-7f};
  EXPECT_TRUE(Sound(ops::Linear{.x = New(4), .weight = weight, .out = New(6)}));
  EXPECT_TRUE(Sound(ops::Linear{.x = New(4), .weight = weight, .residual = New(6), .norm = norm, .out = New(6)}));
  EXPECT_FALSE(Sound(ops::Linear{.x = New(5), .weight = weight, .out = New(6)}));
  EXPECT_FALSE(Sound(ops::Linear{.x = New(4), .weight = weight, .out = New(5)}));
  EXPECT_TRUE(Sound(ops::Linear{.x = New(4), .weight = weight, .out = New(5), .some_outputs = true}));
  EXPECT_FALSE(Sound(ops::Linear{.x = New(4), .weight = weight, .out = New(6), .some_outputs = true}));
  EXPECT_FALSE(Sound(ops::Linear{
      .x = New(4), .weight = weight, .activation = Activation::kGelu, .out = New(5), .some_outputs = true}));
  const LinearId grouped = Linear({.in = 4, .out = 6, .groups = 2});
  EXPECT_FALSE(Sound(ops::Linear{.x = New(4), .weight = grouped, .out = New(3), .some_outputs = true}));
  EXPECT_FALSE(Sound(ops::Linear{.x = New(4), .weight = weight, .factor = New(5), .out = New(6)}));
  EXPECT_FALSE(Sound(ops::Linear{.x = New(4), .weight = weight, .norm = norm, .out = New(6)}));
  EXPECT_FALSE(Sound(ops::Linear{.x = New(4), .weight = weight, .out = New(6, {Domain::kSequences, 1})}));
}

TEST_F(ShapesTest, Experts) {
  const LinearId weight = Linear({.in = 4, .out = 3 * 64});
  const ops::Experts up = {.x = New(4), .router = New(3), .weight = weight, .chosen = 2, .out = New(128)};
  const ops::Experts down = {
      .x = New(8), .router = New(3), .weight = weight, .chosen = 2, .sums = true, .out = New(64)};
  EXPECT_TRUE(Sound(up));
  EXPECT_TRUE(Sound(down));
  const auto changed = [](ops::Experts op, auto member, auto value) {
    op.*member = value;
    return op;
  };
  for (const ops::Experts& op : {up, down}) {
    EXPECT_FALSE(Sound(changed(op, &ops::Experts::x, New(5))));
    EXPECT_FALSE(Sound(changed(op, &ops::Experts::router, New(2))));
    EXPECT_FALSE(Sound(changed(op, &ops::Experts::router, New(3, {Domain::kSequences, 1}))));
    EXPECT_FALSE(Sound(changed(op, &ops::Experts::weight, Linear({.in = 4, .out = 3 * 32}))));
    EXPECT_FALSE(Sound(changed(op, &ops::Experts::chosen, 4)));
    EXPECT_FALSE(Sound(changed(op, &ops::Experts::chosen, 0)));
    EXPECT_FALSE(Sound(changed(op, &ops::Experts::sums, !op.sums)));
    EXPECT_FALSE(Sound(changed(op, &ops::Experts::out, New(65))));
  }
}

TEST_F(ShapesTest, OperationsOnElementsAndRows) {
  const NormArgs norm = {Constant(1, 4), Constant(1, 4), 1e-7f};
  EXPECT_TRUE(Sound(ops::LayerNorm{.x = New(4), .norm = norm, .out = New(4)}));
  EXPECT_FALSE(Sound(ops::LayerNorm{.x = New(5), .norm = norm, .out = New(5)}));
  EXPECT_TRUE(Sound(ops::Add{New(4), Constant(1, 4), New(4)}));
  EXPECT_FALSE(Sound(ops::Add{New(4), Constant(2, 4), New(4)}));
  EXPECT_TRUE(Sound(ops::Multiply{New(4), Constant(1, 4), New(4)}));
  EXPECT_FALSE(Sound(ops::Multiply{New(4), Constant(2, 4), New(4)}));
  EXPECT_TRUE(Sound(ops::RmsNorm{New(8), Constant(1, 4), 1e-6f, 1, New(8)}));
  EXPECT_FALSE(Sound(ops::RmsNorm{New(8), Constant(1, 3), 1e-6f, 0, New(8)}));
  EXPECT_FALSE(Sound(ops::RmsNorm{New(8), Constant(1, 4), -1, 0, New(8)}));
  EXPECT_TRUE(Sound(ops::Normalize{New(4), 1e-8f, New(4)}));
  EXPECT_FALSE(Sound(ops::Normalize{New(4), 0, New(4)}));
  EXPECT_FALSE(Sound(ops::Normalize{New(4), 1e-8f, New(5)}));
  EXPECT_FALSE(Sound(ops::Activate{New(4), Activation::kGelu, New(5)}));
  const IndexId first = NewIndex(indices::FirstTokens{});
  EXPECT_TRUE(Sound(ops::SelectRows{New(4), first, New(4, {Domain::kSequences, 1})}));
  EXPECT_FALSE(Sound(ops::SelectRows{New(4), first, New(4)}));
}

TEST_F(ShapesTest, AttentionAndConvolutions) {
  const IndexId slots = NewIndex(indices::Slots{.rows = 9});
  ops::Attention attention = {.query = New(6), .key = New(6), .value = New(6), .heads = 3, .out = New(6)};
  EXPECT_TRUE(Sound(attention));
  attention.position_key = Constant(9, 6);
  EXPECT_FALSE(Sound(attention));
  attention.slots = slots;
  EXPECT_TRUE(Sound(attention));
  attention.position_query = Constant(8, 6);
  EXPECT_FALSE(Sound(attention));
  attention.position_query = {};
  attention.heads = 4;
  EXPECT_FALSE(Sound(attention));
  EXPECT_TRUE(Sound(ops::DepthwiseConv{New(4), Constant(3, 4), New(4)}));
  EXPECT_FALSE(Sound(ops::DepthwiseConv{New(4), Constant(2, 4), New(4)}));
  EXPECT_TRUE(Sound(ops::SpanConv{.logits = New(6), .values = New(4), .heads = 2, .kernel_size = 3, .out = New(4)}));
  EXPECT_FALSE(Sound(ops::SpanConv{.logits = New(6), .values = New(4), .heads = 3, .kernel_size = 2, .out = New(4)}));
  const LinearId taps = Linear({.in = 8, .out = 6});
  EXPECT_TRUE(Sound(
      ops::SpanConv{.logits = New(8), .weight = taps, .values = New(4), .heads = 2, .kernel_size = 3, .out = New(4)}));
  EXPECT_FALSE(Sound(
      ops::SpanConv{.logits = New(6), .weight = taps, .values = New(4), .heads = 2, .kernel_size = 3, .out = New(4)}));
  const LinearId fewer = Linear({.in = 8, .out = 4});
  EXPECT_FALSE(Sound(
      ops::SpanConv{.logits = New(8), .weight = fewer, .values = New(4), .heads = 2, .kernel_size = 3, .out = New(4)}));
  const LinearId weight = Linear({.in = 12, .out = 5});
  EXPECT_TRUE(Sound(ops::Conv1d{.x = New(4), .weight = weight, .kernel_size = 3, .out = New(5)}));
  EXPECT_FALSE(Sound(ops::Conv1d{.x = New(4), .weight = weight, .kernel_size = 5, .out = New(5)}));
}

TEST_F(ShapesTest, AResultSharesNoMemoryWithAnOperand) {
  const Value wide = New(8);
  EXPECT_TRUE(Sound(ops::Activate{Columns(wide, 0, 4), Activation::kGelu, Columns(wide, 4, 4)}));
  EXPECT_FALSE(Sound(ops::Activate{Columns(wide, 0, 4), Activation::kGelu, Columns(wide, 3, 4)}));
}

TEST_F(ShapesTest, FlopsAreThoseOfProducts) {
  RaggedBatch batch;
  batch.Append(3);
  batch.Append(2);
  Sizes sizes;
  sizes[Domain::kTokens] = 5;
  const std::vector<int32_t> distances = {0, 0, 1, 2, 2};  // for texts of up to three tokens
  const std::span<const int32_t> indices[] = {distances};
  const auto flops = [&](const Op& op) { return Flops(program_, op, batch, sizes, indices); };
  const LinearId weight = Linear({.in = 4, .out = 6, .groups = 2});
  EXPECT_EQ(flops(ops::Linear{.x = New(4), .weight = weight, .out = New(6)}), 2 * 5 * 2 * 6);
  EXPECT_EQ(flops(ops::DepthwiseConv{New(4), Constant(3, 4), New(4)}), 2 * 5 * 4 * 3);
  EXPECT_EQ(flops(ops::Activate{New(4), Activation::kGelu, New(4)}), 0);
  ops::Attention attention = {.query = New(6), .key = New(6), .value = New(6), .heads = 3, .out = New(6)};
  EXPECT_EQ(flops(attention), 4 * (3 * 3 + 2 * 2) * 6);
  attention.position_key = Constant(3, 6);
  attention.slots = NewIndex(indices::Slots{.rows = 3});
  // The longer text reaches three slots; the distances -1 to 1 of the shorter one reach slots 0, 1 and 2.
  EXPECT_EQ(flops(attention), 4 * (3 * 3 + 2 * 2) * 6 + 2 * 3 * 3 * 6 + 2 * 2 * 3 * 6);
}

}  // namespace
}  // namespace peruse
