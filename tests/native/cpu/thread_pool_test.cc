#include "core/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace peruse::cpu {
namespace {

#if !defined(__EMSCRIPTEN__) || defined(__EMSCRIPTEN_PTHREADS__)

// More threads than processors, and many short jobs, so that helpers come late, sleep and wake in every order.
TEST(ThreadPoolTest, CallsEveryIndexOnce) {
  for (const int32_t threads : {2, 3, 8}) {
    const ThreadPool pool = ThreadPool::Create(threads).value();
    for (int job = 0; job < 2000; ++job) {
      const int64_t count = job % 37;
      std::vector<std::atomic<int>> calls(37);
      std::atomic<bool> in_range = true;
      pool.For(count, [&](int32_t thread, int64_t index) {
        if (thread < 0 || thread >= threads) in_range = false;
        calls[static_cast<size_t>(index)] += 1;
      });
      for (int64_t i = 0; i < 37; ++i) ASSERT_EQ(calls[static_cast<size_t>(i)], i < count ? 1 : 0) << "job " << job;
      ASSERT_TRUE(in_range);
    }
  }
}

TEST(ThreadPoolTest, WritesAreSeen) {
  const ThreadPool pool = ThreadPool::Create(4).value();
  std::vector<int64_t> values(1000, 0);
  for (int job = 0; job < 500; ++job) {
    pool.ForRows(1000, 10, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i) values[static_cast<size_t>(i)] += i;
    });
  }
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(values[static_cast<size_t>(i)], 500 * i);
}

TEST(ThreadPoolTest, StartsAndEndsOften) {
  for (int i = 0; i < 200; ++i) {
    const ThreadPool pool = ThreadPool::Create(3).value();
    std::atomic<int> calls = 0;
    if (i % 2 == 0) pool.For(5, [&](int32_t, int64_t) { calls += 1; });
    EXPECT_EQ(calls, i % 2 == 0 ? 5 : 0);
  }
}

#else

TEST(ThreadPoolTest, RefusesThreadsThatTheBuildLacks) {
  EXPECT_EQ(ThreadPool::Create(2).status().code(), StatusCode::kUnsupported);
}

#endif

TEST(ThreadPoolTest, OneThreadIsTheCaller) {
  const ThreadPool pool = ThreadPool::Create(1).value();
  int64_t sum = 0;
  pool.For(10, [&](int32_t thread, int64_t index) { sum += thread + index; });
  EXPECT_EQ(sum, 45);
  EXPECT_EQ(ThreadPool::Create(0).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace peruse::cpu
