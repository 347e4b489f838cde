#include "tests/native/ops/random_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tests/native/random.h"

namespace peruse::testing {
namespace {

constexpr uint32_t kCases = 40;  // number of cases per run
constexpr int32_t kLongest = 90;

bool Is(const OpCase& c, std::string_view operation) { return std::string_view(c.operation).starts_with(operation); }

// Minimum length of a text: some operations need enough rows to choose from, or columns next to an output as wide as the text.
int32_t LeastLength(const OpCase& c) {
  if (Is(c, "PoolRows")) return 9;
  return Is(c, "MatMulSquare") ? 5 : 1;
}

std::vector<int32_t> DrawLengths(const OpCase& c, Random& random) {
  const bool one = !c.by_text || Is(c, "Embed");
  std::vector<int32_t> lengths(static_cast<size_t>(one ? 1 : random.Int(1, 4)));
  for (int32_t& length : lengths) {
    const int32_t least = LeastLength(c);
    length = random.Chance(40) ? random.Int(least, least + 3) : random.Int(least, kLongest);
  }
  return lengths;
}

// Changes the shapes, the weights and the activation of a case, but not heads, groups and kernel.
OpCase Reshaped(OpCase c, Random& random) {
  c.lengths = DrawLengths(c, random);
  if (c.heads > 1) c.heads = random.Int(1, 5);
  if (c.groups > 1) c.groups = random.Int(1, 5);
  c.cols = c.heads * c.groups * random.Int(1, c.heads * c.groups > 4 ? 30 : 100);
  if (c.out > 0) c.out = c.groups * random.Int(1, c.groups > 2 ? 30 : 90);
  if (c.kernel > 0 && !Is(c, "Embed")) c.kernel = 2 * random.Int(0, random.Chance(20) ? 30 : 6) + 1;
  c.strided_in = random.Chance(30);
  c.strided_out = random.Chance(30);
  if (Is(c, "LimitedWindow")) {  // each query has at least one key in its window
    for (int32_t& length : c.lengths) length = std::min(length, c.keys + c.kernel);
  }
  const bool has_more = Is(c, "Attention") || Is(c, "WindowedAttention") || Is(c, "DisentangledAttention") ||
                        Is(c, "BiasedAttention") || Is(c, "GroupedAttention") || Is(c, "CausalAttention") ||
                        Is(c, "SpanConv") || Is(c, "LinearSpanConv");
  c.extra_output = has_more && random.Chance(30);
  // Probabilities are as wide as the longest text; columns next to them must fit into another such width.
  if (c.extra_output && c.longest() < 5) c.strided_out = false;
  return c;
}

}  // namespace

void ForRandomCases(const Cases& cases, const std::function<void(const OpCase& c)>& check) {
  const auto seed = static_cast<uint32_t>(::testing::UnitTest::GetInstance()->random_seed());
  for (uint32_t i = 0; i < kCases && !::testing::Test::HasFailure(); ++i) {
    Random random(seed * kCases + i);
    const OpCase c =
        Reshaped(cases[static_cast<size_t>(random.Int(0, static_cast<int32_t>(cases.size()) - 1))], random);
    SCOPED_TRACE(c.name() + ", seed " + std::to_string(seed * kCases + i));
    check(c);
  }
}

}  // namespace peruse::testing
