#include <gtest/gtest.h>

#include "core/program/build.h"
#include "core/program/token_indices.h"

namespace peruse {
namespace {

TEST(PrintTest, SaysWhatEachOperationReadsAndGives) {
  Program program;
  Parameters parameters;
  Build b(program, parameters, Precision::kF16);
  const Value words = b.Embed({{b.Table("words", 10, 4, true), b.IndexOf(indices::TokenIds{})}});
  const Value mixed = b.Linear(words, b.Weights("mixed", 4, 12));
  const auto [query, key, value] = b.Split<3>(mixed);
  const Value attended = b.Attention({.query = query, .key = key, .value = value, .heads = 2}).out;
  b.Output(kLastHiddenState, b.Activate(b.Linear(attended, b.Weights("inner", 4, 6)), Activation::kGelu));
  EXPECT_EQ(Print(program),
            "%0 [tokens, 4] = embed\n"
            "%1 [tokens, 12] = linear %0 W0 [4 -> 12, float16]\n"
            "%5, %6 [tokens, 4] = attention %1[0:4] %1[4:8] %1[8:12], 2 heads\n"
            "%7 [tokens, 6] = linear %5 W1 [4 -> 6, float16]\n"
            "%8 [tokens, 6] = activate %7, gelu\n"
            "output last_hidden_state = %8\n");
}

TEST(PrintTest, NamesEveryDomain) {
  for (const auto& [domain, name] : {std::pair{Domain::kOne, "3"},
                                     {Domain::kTokens, "3 tokens"},
                                     {Domain::kSequences, "3 sequences"},
                                     {Domain::kLongest, "3 longest"},
                                     {Domain::kChosen, "3 chosen"},
                                     {Domain::kWords, "3 words"},
                                     {Domain::kLabels, "3 labels"},
                                     {Domain::kPairs, "3 pairs"}}) {
    Program program;
    const Value x = program.NewValue({domain, 3}, {Domain::kOne, 2});
    program.ops.push_back(ops::Activate{x, Activation::kTanh, program.NewValue({domain, 3}, {Domain::kOne, 2})});
    EXPECT_EQ(Print(program), "%1 [" + std::string(name) + ", 2] = activate %0, tanh\n");
  }
}

}  // namespace
}  // namespace peruse
