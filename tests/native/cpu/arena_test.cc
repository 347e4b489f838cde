#include "core/cpu/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace peruse::cpu {
namespace {

void Use(Arena& arena) {
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t mark = arena.size();
    ASSERT_TRUE(arena.Push(100'000 + i));
    ASSERT_TRUE(arena.Push(700'000));
    std::memset(arena.data(arena.size() - 1), 0x55, 700'000);
    if (i % 3 != 0) arena.Pop(mark);
  }
}

TEST(ArenaTest, AWarmRunAllocatesNothing) {
  Arena arena;
  arena.Reset();
  Use(arena);
  arena.Reset();
  const int64_t capacity = arena.capacity();
  const std::byte* first = nullptr;
  for (int run = 0; run < 3; ++run) {
    Use(arena);
    EXPECT_EQ(arena.capacity(), capacity);
    if (run > 0) EXPECT_EQ(arena.data(0), first);
    first = arena.data(0);
    arena.Reset();
  }
}

TEST(ArenaTest, BuffersAreAlignedApartAndMayBeOverread) {
  Arena arena;
  ASSERT_TRUE(arena.Push(1));
  ASSERT_TRUE(arena.Push(1));
  for (int64_t i = 0; i < 2; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.data(i)) % kAlignment, 0u);
    std::memset(arena.data(i), 0, 1 + kOverread);  // the address sanitizer would find an overrun
  }
  EXPECT_GE(arena.data(1) - arena.data(0), kOverread);
}

TEST(ArenaTest, AnAbsurdRequestFailsAndTheStackStaysSound) {
  Arena arena;
  ASSERT_TRUE(arena.Push(8));
  EXPECT_FALSE(arena.Push(int64_t{1} << 52));
  EXPECT_FALSE(arena.Push(-1));
  EXPECT_EQ(arena.size(), 3);
  EXPECT_EQ(arena.data(1), nullptr);
  ASSERT_TRUE(arena.Push(8));
  EXPECT_NE(arena.data(3), nullptr);
  arena.Pop(1);
  ASSERT_TRUE(arena.Push(8));
}

}  // namespace
}  // namespace peruse::cpu
