#include "core/base/memory.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/native/memory/memory_end.h"

namespace peruse {
namespace {

TEST(Memory, SaysWhetherThereIsAny) {
  EXPECT_TRUE(HasMemory(0));
  EXPECT_TRUE(HasMemory(1 << 20));
  EXPECT_FALSE(HasMemory(SIZE_MAX));
  EXPECT_FALSE(HasMemory(0));
  EXPECT_TRUE(HoldReserve().ok());
  EXPECT_TRUE(HasMemory(0));
  EXPECT_FALSE(HasMemory(SIZE_MAX / 2));
  const Status status = EnsureMemory(SIZE_MAX / 2, "a whale");
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_NE(status.message().find("a whale"), std::string::npos);
  EXPECT_EQ(EnsureMemory(1, "a crumb").code(), StatusCode::kOutOfMemory)
      << "an earlier failure counts until the next call";
  EXPECT_TRUE(HoldReserve().ok());
  EXPECT_TRUE(EnsureMemory(1, "a crumb").ok());
}

TEST(Memory, ArithmeticSaturates) {
  EXPECT_EQ(SaturatingMultiply(SIZE_MAX / 2, 3), SIZE_MAX);
  EXPECT_EQ(SaturatingMultiply(6, 7), 42u);
  EXPECT_EQ(SaturatingMultiply(SIZE_MAX, 0), 0u);
  EXPECT_EQ(SaturatingAdd(SIZE_MAX, 1), SIZE_MAX);
  EXPECT_EQ(SaturatingAdd(40, 2), 42u);
}

TEST(Memory, PushesBack) {
  ASSERT_TRUE(HoldReserve().ok());
  std::vector<int> values;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(TryPushBack(&values, i));
  EXPECT_EQ(values.size(), 1000u);
  EXPECT_EQ(values[999], 999);
}

TEST(Memory, GrowsContainers) {
  std::string text;
  EXPECT_TRUE(TryAppend(&text, "some"));
  EXPECT_TRUE(TryAppend(&text, std::string(100, 'x')));
  EXPECT_EQ(text.size(), 104u);
  EXPECT_TRUE(TryAssign(&text, "words"));
  EXPECT_EQ(text, "words");
  std::vector<double> values;
  EXPECT_FALSE(TryResize(&values, SIZE_MAX / 2));
  EXPECT_TRUE(values.empty());
  EXPECT_FALSE(TryResize(&values, 7));
  EXPECT_TRUE(HoldReserve().ok());
  EXPECT_TRUE(TryResize(&values, 7));
  EXPECT_EQ(values.size(), 7u);
  EXPECT_FALSE(TryGrow(&values, SIZE_MAX));
  EXPECT_TRUE(HoldReserve().ok());
  EXPECT_EQ(CopyText("copied").value(), "copied");
}

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)

// The first failed plain allocation uses the reserve; afterwards every Try* call fails until the reserve is restored.
TEST(Memory, TheReserveIsGivenUpOnce) {
  ASSERT_TRUE(HoldReserve().ok());
  std::unique_ptr<char[]> plain;
  {
    const peruse::testing::MemoryEnd end(0);
    plain = std::make_unique<char[]>(1000);
    std::vector<int> values;
    EXPECT_FALSE(TryPushBack(&values, 1));
    EXPECT_FALSE(HasMemory());
    EXPECT_FALSE(HoldReserve().ok());
    EXPECT_EQ(EnsureMemory(1, "a crumb").code(), StatusCode::kOutOfMemory);
  }
  EXPECT_NE(plain[0], 'x');
  EXPECT_FALSE(HasMemory());
  EXPECT_TRUE(HoldReserve().ok());
  EXPECT_TRUE(HasMemory());
}

#endif

}  // namespace
}  // namespace peruse
