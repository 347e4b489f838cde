// The merged rows against sums in double precision, and their bits with one thread and several.
#include "core/cpu/low_rank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/native/random.h"
#include "tests/native/train/threads_here.h"

namespace peruse::testing {
namespace {

std::vector<float> Draw(int64_t count, Random& random) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = random.Float();
  return values;
}

TEST(LowRankSumTest, RowsAreSumsInDoublePrecisionForAnyNumberOfThreads) {
  Random random(3);
  for (const int64_t rank : {1, 3, 64}) {
    for (const int64_t cols : {1, 30, 128, 300}) {
      for (const int64_t count : {1, 32, 45}) {
        const std::vector<float> rows = Draw(count * cols, random), left = Draw(count * rank, random),
                                 right = Draw(rank * cols, random);
        const float scale = 0.7f;
        std::vector<float> first;
        for (const int32_t threads : {0, 1, train::ThreadsHere(3)}) {
          Result<cpu::ThreadPool> pool = cpu::ThreadPool::Create(std::max(threads, 1));
          ASSERT_TRUE(pool.ok());
          auto sum = cpu::LowRankSum::Create(right, rank, cols, scale, threads > 0 ? &*pool : nullptr);
          ASSERT_TRUE(sum.ok());
          std::vector<float> out(rows.size());
          sum->Add(rows.data(), left.data(), count, out.data());
          if (threads > 0) EXPECT_EQ(out, first) << rank << " " << cols << " " << count << " " << threads;
          first = out;
        }
        for (int64_t i = 0; i < count; ++i) {
          for (int64_t c = 0; c < cols; ++c) {
            double exact = 0, magnitude = 0;
            for (int64_t k = 0; k < rank; ++k) {
              const double term =
                  double{left[static_cast<size_t>(i * rank + k)]} * right[static_cast<size_t>(k * cols + c)];
              exact += term * scale;
              magnitude += std::fabs(term * scale);
            }
            const auto at = static_cast<size_t>(i * cols + c);
            exact += rows[at];
            const double bound = (static_cast<double>(rank) + 2) * std::numeric_limits<float>::epsilon() / 2 *
                                 (magnitude + std::fabs(rows[at]));
            ASSERT_NEAR(first[at], exact, bound) << rank << " " << cols << " " << count;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace peruse::testing
