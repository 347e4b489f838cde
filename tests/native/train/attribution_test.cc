// Compares integrated gradients with Captum's (tests/reference/make_attribution_goldens.py), and checks completeness.
#include "core/train/attribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/native/train/golden_summary.h"

namespace peruse::train {
namespace {

using peruse::testing::GoldenCase;
using peruse::testing::TensorFile;

constexpr int32_t kBaseline = 4;
// Captum computes in float64, Peruse the gradients in float32: a wrong term shows at 1e-2.
constexpr double kTolerance = 2e-5;

const TensorFile& Goldens() {
  static const TensorFile file = TensorFile::Read("training/attributions.safetensors");
  return file;
}

class AttributionTest : public ::testing::TestWithParam<GoldenCase> {
 protected:
  AttributionTest() : trainee_(testing::LoadTrainee(GetParam(), GetParam().Options().head)) {
    attributor_ = Attributor::Create(*trainee_, /*threads=*/1).value();
  }

  // The formulas of make_attribution_goldens.py.
  AttributionRequest Request(const std::string& text) const {
    const TensorFile expected = GetParam().Expected();
    AttributionRequest request = {.ids = expected.Ints(text + ".input_ids"),
                                  .types = expected.Ints(text + ".token_type_ids")};
    request.baseline = request.ids;
    std::fill(request.baseline.begin() + 1, request.baseline.end() - 1, kBaseline);
    const auto length = static_cast<int32_t>(request.ids.size());
    if (GetParam().Options().head == Head::kQuestionAnswering) {
      request.logits = {{length / 3, 0}, {length / 2, 1}};
    } else {
      request.logits = {{0, 1}};
    }
    return request;
  }

  std::unique_ptr<Trainee> trainee_;
  std::unique_ptr<Attributor> attributor_;
};

TEST_P(AttributionTest, ScoresAreCaptums) {
  for (const std::string text : {"c", "d"}) {
    const Attribution found = attributor_->Attribute(Request(text)).value();
    const std::vector<float> scores = Goldens().Floats(GetParam().name + "/" + text + "/scores");
    const std::vector<float> values = Goldens().Floats(GetParam().name + "/" + text + "/values");
    EXPECT_NEAR(found.value, values[0], kTolerance) << text;
    EXPECT_NEAR(found.baseline_value, values[1], kTolerance) << text;
    ASSERT_EQ(found.tokens.size(), scores.size());
    for (size_t t = 0; t < scores.size(); ++t)
      EXPECT_NEAR(found.tokens[t], scores[t], kTolerance) << text << ", token " << t;
  }
}

TEST_P(AttributionTest, ScoresAddUpToTheDifferenceOfTheValues) {
  AttributionRequest request = Request("d");
  const auto missing = [&](int32_t steps) {
    request.steps = steps;
    const Attribution found = attributor_->Attribute(request).value();
    const double sum = std::accumulate(found.tokens.begin(), found.tokens.end(), 0.0);
    return std::fabs(found.value - found.baseline_value - sum);
  };
  EXPECT_LT(missing(200), 5 * kTolerance);  // float32 rounding of some 30 scores
  const Attribution found = attributor_->Attribute(request).value();
  EXPECT_EQ(found.tokens.front(), 0);  // it is the same in the baseline
  EXPECT_EQ(found.tokens.back(), 0);
}

std::vector<GoldenCase> Cases() {
  std::vector<GoldenCase> cases;
  for (const GoldenCase& golden : peruse::testing::GoldenCases()) {
    if (Goldens().Has(golden.name + "/c/scores")) cases.push_back(golden);
  }
  return cases;
}

TEST(AttributionGoldens, AllCheckpointsAreThere) { EXPECT_EQ(Cases().size(), 16u); }

INSTANTIATE_TEST_SUITE_P(Captum, AttributionTest, ::testing::ValuesIn(Cases()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace peruse::train
