#include "tests/native/train/golden_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace peruse::train::testing {

const TensorFile& PretrainingGoldens() {
  static const TensorFile file = TensorFile::Read("training/pretraining.safetensors");
  return file;
}

std::unique_ptr<Trainee> LoadTrainee(const peruse::testing::GoldenCase& golden, Head head) {
  auto trainee = Trainee::Create(golden.Config(), head, {}).value();
  const std::string weights = golden.Weights();
  PERUSE_CHECK(trainee->FeedWeights(peruse::testing::Bytes(weights)).ok() && trainee->FinishWeights().ok());
  return trainee;
}

double LargestGradient(const TensorFile& goldens, const std::string& prefix) {
  double largest = 0;
  for (const auto& [key, entry] : goldens.entries) {
    if (key.starts_with(prefix) && key.find("/gradient/") != std::string::npos && key.ends_with("/sums")) {
      largest = std::max(largest, double{goldens.Floats(key)[0]});
    }
  }
  return largest;
}

void ExpectSummary(const TensorFile& goldens, const std::string& key, const float* values, int64_t size, double within,
                   double floor) {
  const std::vector<float> samples = goldens.Floats(key + "/samples");
  const std::vector<float> sums = goldens.Floats(key + "/sums");
  const double bound = within * sums[0] + floor;
  const auto count = static_cast<int64_t>(samples.size());
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_NEAR(values[i * size / count], samples[static_cast<size_t>(i)], bound) << key << ", sample " << i;
  }
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) {
    const bool minus = (static_cast<uint64_t>(i) * 2654435761u >> 15 & 1u) != 0;
    sum += minus ? -double{values[i]} : double{values[i]};
  }
  // Errors are independent: their sum grows with the square root of their number.
  EXPECT_NEAR(sum, sums[1], bound * std::sqrt(static_cast<double>(size)) * 2) << key << ", sum";
}

}  // namespace peruse::train::testing
