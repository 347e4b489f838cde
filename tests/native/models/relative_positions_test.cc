// The bucket tables of spec deberta.md C4, which were read off the reference implementation.
#include "core/models/relative_positions.h"

#include <gtest/gtest.h>

namespace peruse {
namespace {

ModelConfig Config(Architecture architecture, int32_t buckets, int32_t max_relative) {
  ModelConfig config;
  config.architecture = architecture;
  config.deberta.position_buckets = buckets;
  config.deberta.max_relative_positions = max_relative;
  return config;
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

// At max_position - 1 the quotient is exactly 1; one rounding error more and ceil gives a bucket too many.
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
  const ModelConfig config = Config(Architecture::kDebertaV2, 256, 512);
  EXPECT_EQ(RelativeRow(config, 0), 256);
  EXPECT_EQ(RelativeRow(config, 511), 511);
  EXPECT_EQ(RelativeRow(config, 512), 511);  // bucket 256: past the table
  EXPECT_EQ(RelativeRow(config, -511), 1);
  EXPECT_EQ(RelativeRow(config, -512), 0);  // only beyond the trained range, as in the reference
  EXPECT_EQ(RelativeRow(config, -100000), 0);
}

TEST(RelativeRowTest, ExactRowsAreClampedToTheTable) {
  const ModelConfig config = Config(Architecture::kDeberta, -1, 4);
  const int32_t expected[] = {0, 0, 1, 2, 3, 4, 5, 6, 7, 7, 7};
  for (int32_t distance = -5; distance <= 5; ++distance)
    EXPECT_EQ(RelativeRow(config, distance), expected[distance + 5]);
}

TEST(RelativeSlotsTest, AShorterReachIsTheMiddleOfALongerOne) {
  const ModelConfig config = Config(Architecture::kDebertaV2, 8, 32);
  RelativeSlots slots(config);
  const auto five = slots.Get(5);
  const std::vector<int32_t> before(five.begin(), five.end());
  ASSERT_EQ(before.size(), 9u);
  EXPECT_EQ(slots.Get(40).size(), 79u);
  const auto again = slots.Get(5);
  EXPECT_EQ(std::vector<int32_t>(again.begin(), again.end()), before);
  for (int32_t distance = -4; distance <= 4; ++distance) {
    EXPECT_EQ(again[static_cast<size_t>(distance + 4)], RelativeRow(config, distance));
  }
}

}  // namespace
}  // namespace peruse
