#include "core/base/memory.h"

#include <gtest/gtest.h>

namespace peruse {
namespace {

TEST(Memory, SaysWhetherThereIsAny) {
  EXPECT_TRUE(HasMemory(0));
  EXPECT_TRUE(HasMemory(1 << 20));
  EXPECT_FALSE(HasMemory(SIZE_MAX));
  EXPECT_FALSE(HasMemory(SIZE_MAX / 2));
  const Status status = EnsureMemory(SIZE_MAX / 2, "a whale");
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_NE(status.message().find("a whale"), std::string::npos);
}

TEST(Memory, ArithmeticSaturates) {
  EXPECT_EQ(SaturatingMultiply(SIZE_MAX / 2, 3), SIZE_MAX);
  EXPECT_EQ(SaturatingMultiply(6, 7), 42u);
  EXPECT_EQ(SaturatingMultiply(SIZE_MAX, 0), 0u);
  EXPECT_EQ(SaturatingAdd(SIZE_MAX, 1), SIZE_MAX);
  EXPECT_EQ(SaturatingAdd(40, 2), 42u);
}

TEST(Memory, PushesBack) {
  std::vector<int> values;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(TryPushBack(&values, i));
  EXPECT_EQ(values.size(), 1000u);
  EXPECT_EQ(values[999], 999);
}

}  // namespace
}  // namespace peruse
