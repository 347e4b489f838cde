#include "core/program/passes/passes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/program/build.h"
#include "core/program/plan.h"
#include "core/program/token_indices.h"

namespace peruse {
namespace {

class PassesTest : public ::testing::Test {
 protected:
  Value Words() { return b_.Embed({{b_.Table("words", 10, 4, true), b_.IndexOf(indices::TokenIds{})}}); }
  Value Linear(Value x, int32_t out) {
    return b_.Linear(x, b_.Weights("linear" + std::to_string(program_.linears.size()), b_.cols(x), out));
  }
  Value AttendByTable(Value x, Value table) {
    const auto [key, query, unused] = b_.Split<3>(Linear(table, 12));
    const IndexId slots = b_.IndexOf(indices::Slots{.rows = 6, .offset = 3});
    return b_
        .Attention({.query = x,
                    .key = x,
                    .value = x,
                    .heads = 2,
                    .position_key = key,
                    .position_query = query,
                    .slots = slots})
        .out;
  }
  Program Kept(std::initializer_list<int32_t> outputs) {
    return KeepOutputs(program_, {outputs.begin(), outputs.size()});
  }

  Program program_;
  Parameters parameters_;
  Build b_{program_, parameters_, Precision::kF32};
};

template <typename AnyOp>
std::vector<AnyOp> All(const Program& program) {
  std::vector<AnyOp> found;
  for (const Op& op : program.ops) {
    if (const auto* one = std::get_if<AnyOp>(&op)) found.push_back(*one);
  }
  return found;
}

TEST_F(PassesTest, KeepOutputsDropsWhatNobodyReads) {
  const Value x = Words();
  b_.Output(kLogits, Linear(x, 3));
  b_.Output(kLastHiddenState, Linear(x, 5));
  const Program kept = Kept({0});
  ASSERT_EQ(kept.outputs.size(), 1u);
  EXPECT_EQ(kept.outputs[0].id, kLogits);
  ASSERT_EQ(All<ops::Linear>(kept).size(), 1u);
  EXPECT_EQ(kept.info(All<ops::Linear>(kept)[0].out).cols.factor, 3);
}

TEST_F(PassesTest, KeepOutputsDropsResultsMadeOnDemand) {
  const Value x = Words();
  const auto [context, probabilities] = b_.Attention({.query = x, .key = x, .value = x, .heads = 2});
  b_.Output(kLogits, context);
  b_.Output({OutputKind::kAttention, 0}, probabilities);
  EXPECT_FALSE(All<ops::Attention>(Kept({0}))[0].probabilities.valid());
  EXPECT_TRUE(All<ops::Attention>(Kept({0, 1}))[0].probabilities.valid());
}

TEST_F(PassesTest, FuseJoinsALinearAndWhatFollows) {
  const Value x = Words();
  const Value activated = b_.Activate(Linear(x, 8), Activation::kGelu);
  const Value added = b_.LayerNorm(b_.Add(Linear(activated, 4), x), b_.Norm("norm", 4, 0));
  const Value product = b_.Multiply(Linear(added, 4), x);
  b_.Output(kLogits, product);
  const Program fused = Fuse(program_);
  const std::vector<ops::Linear> linears = All<ops::Linear>(fused);
  ASSERT_EQ(fused.ops.size(), 4u) << Print(fused);
  ASSERT_EQ(linears.size(), 3u);
  EXPECT_EQ(linears[0].activation, Activation::kGelu);
  EXPECT_EQ(linears[1].residual, x);
  EXPECT_TRUE(linears[1].norm.valid());
  EXPECT_EQ(linears[2].factor, x);
  EXPECT_EQ(linears[2].out, product);
}

TEST_F(PassesTest, FuseLeavesWhatOthersRead) {
  const Value linear = Linear(Words(), 4);
  b_.Output(kLogits, b_.Activate(linear, Activation::kGelu));
  b_.Output(kLastHiddenState, linear);
  EXPECT_EQ(All<ops::Activate>(Fuse(program_)).size(), 1u);
}

TEST_F(PassesTest, FuseJoinsOneSumWithALayerNormAndNoSecondOne) {
  const Value x = b_.LayerNorm(Words(), b_.Norm("first", 4, 0));  // of no sum
  const Value y = Linear(x, 4), z = b_.Activate(x, Activation::kGelu), inner = b_.Add(x, z);
  b_.Output(kLogits, b_.LayerNorm(b_.Add(inner, z), b_.Norm("second", 4, 0)));
  b_.Output(kLastHiddenState, y);
  const Program fused = Fuse(program_);
  const std::vector<ops::LayerNorm> norms = All<ops::LayerNorm>(fused);
  ASSERT_EQ(norms.size(), 2u) << Print(fused);
  EXPECT_FALSE(norms[0].residual.valid());
  EXPECT_EQ(norms[1].x, inner);
  EXPECT_EQ(norms[1].residual, z);
  EXPECT_EQ(Print(Fuse(fused)), Print(fused));
}

TEST_F(PassesTest, FuseMakesTheKernelsOfASpanConvolutionInIt) {
  const Value x = Words();
  b_.Output(kLogits, b_.SpanConv(Linear(x, 2 * 3), x, 2).out);
  const Program fused = Fuse(Kept({0}));
  ASSERT_TRUE(All<ops::Linear>(fused).empty());
  EXPECT_EQ(All<ops::SpanConv>(fused)[0].logits, x);
  EXPECT_TRUE(All<ops::SpanConv>(fused)[0].weight.valid());
}

TEST_F(PassesTest, DropRowsMovesASelectionUpToTheAttention) {
  const Value x = Words();
  const Value context = b_.Attention({.query = x, .key = x, .value = x, .heads = 2}).out;
  const Value attended = b_.LayerNorm(b_.Add(Linear(context, 4), x), b_.Norm("norm", 4, 0));
  const Value down = Linear(b_.Activate(Linear(attended, 8), Activation::kGelu), 4);
  const Value hidden = b_.Add(down, attended);
  b_.Output(kLogits, b_.SelectRows(hidden, indices::FirstTokens{}));
  const Program dropped = DropRows(Kept({0}));
  const std::vector<ops::SelectRows> selections = All<ops::SelectRows>(dropped);
  ASSERT_EQ(selections.size(), 2u) << Print(dropped);
  EXPECT_TRUE((selections[0].x == context && selections[1].x == x) ||
              (selections[0].x == x && selections[1].x == context));
  for (const ops::Linear& linear : All<ops::Linear>(dropped)) {
    EXPECT_EQ(dropped.info(linear.x).rows, (Extent{Domain::kSequences, 1})) << Print(dropped);
  }
}

TEST_F(PassesTest, DropRowsKeepsRowsThatAnotherOutputReads) {
  const Value hidden = Linear(Words(), 4);
  b_.Output({OutputKind::kHidden, 0}, hidden);
  b_.Output(kLogits, b_.SelectRows(hidden, indices::FirstTokens{}));
  const Program dropped = DropRows(program_);
  EXPECT_EQ(All<ops::SelectRows>(dropped)[0].x, hidden);
}

TEST_F(PassesTest, HoistComputesConstantsOnce) {
  const Value table = b_.Constant("table", 6, 4);
  const Value x = Words();
  b_.Output(kLogits, AttendByTable(x, table));
  const Hoisted hoisted = HoistConstants(program_);
  EXPECT_TRUE(All<ops::Linear>(hoisted.run).empty());
  ASSERT_EQ(All<ops::Linear>(hoisted.load).size(), 1u);
  EXPECT_EQ(hoisted.load.outputs.size(), 2u);
  const ops::Attention attention = All<ops::Attention>(hoisted.run)[0];
  EXPECT_TRUE(hoisted.run.IsConstant(attention.position_key));
  EXPECT_TRUE(hoisted.run.IsConstant(attention.position_query));
  EXPECT_NE(hoisted.run.info(attention.position_key).constant, hoisted.run.info(attention.position_query).constant);
}

TEST_F(PassesTest, HoistCopiesColumnsAsSoonAsTheyAreThere) {
  const Value table = b_.Constant("table", 6, 4);
  Value x = Words();
  for (int layer = 0; layer < 5; ++layer) x = AttendByTable(x, table);
  b_.Output(kLogits, x);
  const Hoisted hoisted = HoistConstants(program_);
  EXPECT_EQ(hoisted.load.outputs.size(), 10u);
  EXPECT_EQ(PlanMemory(hoisted.load).slots.size(), 1u)
      << Print(hoisted.load);  // of the products of one layer after another
}

TEST_F(PassesTest, HoistMakesNoColumnsThatNobodyReads) {
  const Value table = b_.Constant("table", 6, 4);
  b_.Output(kLogits, AttendByTable(Words(), table));
  const Hoisted hoisted = HoistConstants(program_);
  const ops::Linear made = All<ops::Linear>(hoisted.load)[0];
  // The table's product omits the value part of query, key and value.
  EXPECT_EQ(hoisted.load.info(made.out).cols.factor, 8) << Print(hoisted.load);
  EXPECT_TRUE(IsSound(hoisted.load));
}

TEST_F(PassesTest, HoistMakesTablesOfDifferentLengths) {
  b_.Output(kLogits, AttendByTable(Words(), b_.Constant("table", 6, 4)));
  b_.Output(kLastHiddenState, b_.SelectRows(Linear(b_.Constant("other", 5, 4), 4), indices::Positions{}));
  const Hoisted hoisted = HoistConstants(program_);
  EXPECT_EQ(hoisted.load.outputs.size(), 3u);
  EXPECT_TRUE(IsSound(hoisted.load));
}

TEST_F(PassesTest, HoistMakesWhatMixesRows) {
  const Value table = b_.Constant("table", 4, 4);
  b_.Output(kLogits, b_.SelectRows(b_.MatMul(table, table), indices::Positions{}));
  const Hoisted hoisted = HoistConstants(program_);
  EXPECT_EQ(hoisted.load.ops.size(), 1u);
}

TEST_F(PassesTest, PlaceColumnsWritesTheJoinedSideBySide) {
  const Value x = Words();
  const Value left = Linear(x, 3);
  const Value right = Linear(x, 5);
  b_.Output(kLogits, Linear(b_.Concat(left, right), 2));
  const Program placed = PlaceColumns(program_);
  EXPECT_TRUE(All<ops::Concat>(placed).empty());
  EXPECT_TRUE(All<ops::Activate>(placed).empty());
  EXPECT_EQ(placed.info(left).base, placed.info(right).base);
  EXPECT_EQ(placed.info(left).first_col, 0);
  EXPECT_EQ(placed.info(right).first_col, 3);
}

TEST_F(PassesTest, PlaceColumnsCopiesWhatLiesElsewhere) {
  const Value x = Words();
  const auto [left, right] = b_.Split<2>(Linear(x, 6));
  b_.Output(kLogits, Linear(b_.Concat(right, left), 2));
  EXPECT_EQ(All<ops::Activate>(PlaceColumns(program_)).size(), 2u);
}

TEST_F(PassesTest, MemoryIsSharedOnlyByValuesThatAreNotNeededAtOnce) {
  Value x = Words();
  const Value first = x;
  for (int i = 0; i < 6; ++i) x = Linear(x, 4);
  b_.Output(kLogits, b_.Add(x, first));
  const Plan plan = PlanMemory(program_);
  EXPECT_EQ(plan.slots.size(), 3u);  // the first value stays live, in addition to an operand and a result
  for (const ops::Linear& linear : All<ops::Linear>(plan.program)) {
    const auto slot = [&](Value value) { return plan.slot_of[static_cast<size_t>(value.id)]; };
    EXPECT_NE(slot(linear.x), slot(linear.out));
    EXPECT_NE(slot(linear.out), slot(first));
  }
}

TEST_F(PassesTest, DropInputsLetsWhatTheyMultiplyStandForTheProduct) {
  const Value x = Words();
  const auto [context, probabilities] = b_.Attention({.query = x, .key = x, .value = x, .heads = 2});
  const Value masked = b_.Multiply(context, b_.InputLike(context, 0));
  b_.Output(kLogits, Linear(masked, 4));
  b_.Output({OutputKind::kAttention, 0}, probabilities);
  EXPECT_TRUE(IsSound(program_));
  const Program dropped = DropInputs(program_);
  EXPECT_TRUE(IsSound(dropped));
  EXPECT_EQ(All<ops::Input>(dropped).size() + All<ops::Multiply>(dropped).size(), 0u);
  EXPECT_EQ(All<ops::Attention>(dropped)[0].out, masked);
  EXPECT_EQ(All<ops::Linear>(dropped)[0].x, masked);
  EXPECT_EQ(All<ops::Attention>(dropped)[0].probabilities, probabilities);
}

TEST_F(PassesTest, DropInputsLeavesOtherProducts) {
  const Value x = Words();
  b_.Output(kLogits, b_.Multiply(Linear(x, 4), x));
  EXPECT_EQ(All<ops::Multiply>(DropInputs(program_)).size(), 1u);
}

}  // namespace
}  // namespace peruse
