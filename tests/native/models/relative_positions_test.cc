// Bucket tables of DeBERTa v2 (make_log_bucket_position), computed by transformers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "core/program/token_indices.h"

namespace peruse {
namespace {

using indices::LogBucket;
using indices::Slots;
using indices::T5Bucket;

constexpr auto kLog = Slots::Buckets::kLog;

std::vector<int32_t> SlotsOf(BatchIndices& lists, Slots slots, int32_t reach) {
  slots.offset = slots.rows / 2;
  Program program;
  program.indices = {slots};
  RaggedBatch batch;
  batch.Append(reach);
  lists.Fill(program, {{}, batch, {}});
  const std::span<const int32_t> values = lists.views()[0];
  return {values.begin(), values.end()};
}

int32_t Row(const Slots& slots, int32_t distance) {
  BatchIndices lists;
  const int32_t reach = std::abs(distance) + 1;
  return SlotsOf(lists, slots, reach)[static_cast<size_t>(distance + reach - 1)];
}

TEST(LogBucketTest, Buckets256Of512) {
  const std::pair<int32_t, int32_t> table[] = {{0, 0},     {1, 1},     {128, 128}, {129, 129}, {130, 130}, {131, 131},
                                               {132, 131}, {140, 137}, {150, 143}, {160, 149}, {180, 160}, {200, 169},
                                               {220, 178}, {256, 192}, {300, 207}, {350, 221}, {400, 233}, {450, 244},
                                               {500, 254}, {509, 255}, {510, 255}, {511, 255}, {512, 256}, {600, 270}};
  for (const auto& [distance, bucket] : table) {
    EXPECT_EQ(LogBucket(distance, 256, 512), bucket) << distance;
    EXPECT_EQ(LogBucket(-distance, 256, 512), -bucket) << -distance;
  }
}

TEST(LogBucketTest, Buckets8Of32) {
  const int32_t expected[] = {0, 1, 2, 3, 4, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7,
                              7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8};
  for (int32_t distance = 0; distance < 34; ++distance) EXPECT_EQ(LogBucket(distance, 8, 32), expected[distance]);
}

// MPNetEncoder.relative_position_bucket of transformers 4.57, 32 buckets over 128, for key - query = -distance. At max_position - 1 the
// quotient is exactly 1; with one more rounding error ceil would return a bucket too many.
TEST(T5BucketTest, Buckets32Of128) {
  const std::pair<int32_t, int32_t> expected[] = {
      {0, 0},   {1, 1},   {7, 7},   {8, 8},    {11, 8},   {12, 9},   {15, 9},    {16, 10},   {22, 10},  {23, 11},
      {31, 11}, {32, 12}, {45, 12}, {46, 13},  {63, 13},  {64, 14},  {90, 14},   {91, 15},   {128, 15}, {511, 15},
      {-1, 17}, {-7, 23}, {-8, 24}, {-16, 26}, {-32, 28}, {-64, 30}, {-127, 31}, {-128, 31}, {-511, 31}};
  for (const auto& [distance, bucket] : expected) EXPECT_EQ(T5Bucket(distance, 32, 128), bucket) << distance;
}

TEST(LogBucketTest, TheLastTrainedDistanceIsTheLastBucket) {
  for (const auto& [buckets, max] : {std::pair{256, 512}, {128, 512}, {32, 512}, {256, 1024}, {256, 2048}, {64, 256}}) {
    EXPECT_EQ(LogBucket(max - 1, buckets, max), 2 * (buckets / 2) - 1) << buckets << " of " << max;
  }
}

TEST(LogBucketTest, FarDistancesStayDefined) {
  EXPECT_GT(LogBucket(1 << 30, 1 << 20, (1 << 19) + 2), 0);
  EXPECT_LT(LogBucket(-(1 << 30), 1 << 20, (1 << 19) + 2), 0);
}

TEST(RelativeRowTest, BucketedRowsAreClampedToTheTable) {
  const Slots v3 = {.rows = 512, .kind = kLog, .buckets = 256, .max_position = 512};
  EXPECT_EQ(Row(v3, 0), 256);
  EXPECT_EQ(Row(v3, 511), 511);
  EXPECT_EQ(Row(v3, 512), 511);  // bucket 256 is beyond the table
  EXPECT_EQ(Row(v3, -511), 1);
  EXPECT_EQ(Row(v3, -512), 0);  // only beyond the trained range, as in transformers
  EXPECT_EQ(Row(v3, -100000), 0);
}

TEST(RelativeRowTest, ExactRowsAreClampedToTheTable) {
  const int32_t expected[] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 7, 7};
  for (int32_t distance = -5; distance <= 5; ++distance) EXPECT_EQ(Row({.rows = 8}, distance), expected[distance + 5]);
}

TEST(RelativeRowTest, AShorterReachIsTheMiddleOfALongerOne) {
  const Slots slots = {.rows = 16, .kind = kLog, .buckets = 8, .max_position = 32};
  BatchIndices lists;
  const std::vector<int32_t> before = SlotsOf(lists, slots, 5);
  ASSERT_EQ(before.size(), 9u);
  EXPECT_EQ(SlotsOf(lists, slots, 40).size(), 79u);
  EXPECT_EQ(SlotsOf(lists, slots, 5), before);
  for (int32_t distance = -4; distance <= 4; ++distance) {
    EXPECT_EQ(before[static_cast<size_t>(distance + 4)], Row(slots, distance));
  }
}

}  // namespace
}  // namespace peruse
