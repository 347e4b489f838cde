#include "tests/native/cpu/int8_bits.h"

#include <gtest/gtest.h>

namespace peruse::testing {
namespace {

// tests/node/int8_bits.test.ts does the same in the build with relaxed SIMD.
TEST(Int8BitsTest, ResultsAreTheSameOnEveryMachine) {
  EXPECT_EQ(HashRows(), kRowsHash);
  EXPECT_EQ(HashLinears(Precision::kQ8), kLinearsHash);
  EXPECT_EQ(HashLinears(Precision::kQ4), kFourBitLinearsHash);
}

}  // namespace
}  // namespace peruse::testing
