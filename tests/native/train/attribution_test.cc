// Compares integrated gradients with Captum's (tests/reference/make_attribution_goldens.py), and checks completeness.
#include "core/train/session/attribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/native/train/golden_summary.h"
#include "tests/native/train/sentence_classifier.h"

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

// The formulas of make_attribution_goldens.py.
AttributionRequest RequestOf(const GoldenCase& golden, const std::string& text) {
  const TensorFile expected = golden.Expected();
  AttributionRequest request = {.ids = expected.Ints(text + ".input_ids"),
                                .types = expected.Ints(text + ".token_type_ids")};
  request.baseline = request.ids;
  std::fill(request.baseline.begin() + 1, request.baseline.end() - 1, kBaseline);
  const auto length = static_cast<int32_t>(request.ids.size());
  if (golden.Options().head == Head::kQuestionAnswering) {
    request.logits = {{length / 3, 0}, {length / 2, 1}};
  } else {
    request.logits = {{0, 1}};
  }
  return request;
}

void ExpectCaptums(Attributor& attributor, const GoldenCase& golden, const std::string& prefix) {
  for (const std::string text : {"c", "d"}) {
    const Attribution found = attributor.Attribute(RequestOf(golden, text)).value();
    const std::vector<float> scores = Goldens().Floats(prefix + golden.name + "/" + text + "/scores");
    const std::vector<float> values = Goldens().Floats(prefix + golden.name + "/" + text + "/values");
    EXPECT_NEAR(found.value, values[0], kTolerance) << text;
    EXPECT_NEAR(found.baseline_value, values[1], kTolerance) << text;
    ASSERT_EQ(found.tokens.size(), scores.size());
    for (size_t t = 0; t < scores.size(); ++t)
      EXPECT_NEAR(found.tokens[t], scores[t], kTolerance) << text << ", token " << t;
  }
}

class AttributionTest : public ::testing::TestWithParam<GoldenCase> {
 protected:
  AttributionTest() : trainee_(testing::LoadTrainee(GetParam(), GetParam().Options().head)) {
    attributor_ = Attributor::Create(*trainee_, /*threads=*/1).value();
  }

  std::unique_ptr<Trainee> trainee_;
  std::unique_ptr<Attributor> attributor_;
};

TEST_P(AttributionTest, ScoresAreCaptums) { ExpectCaptums(*attributor_, GetParam(), ""); }

TEST_P(AttributionTest, ScoresAddUpToTheDifferenceOfTheValues) {
  AttributionRequest request = RequestOf(GetParam(), "d");
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

std::vector<GoldenCase> Cases(const std::string& prefix) {
  std::vector<GoldenCase> cases;
  for (const GoldenCase& golden : peruse::testing::GoldenCases()) {
    if (Goldens().Has(prefix + golden.name + "/c/scores")) cases.push_back(golden);
  }
  return cases;
}

class SentenceAttributionTest : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(SentenceAttributionTest, ScoresAreCaptums) {
  const GoldenCase& golden = GetParam();
  auto trainee = Trainee::Create(golden.Config(), Head::kSequenceClassification, {},
                                 SentenceHead{.pick = PooledHead::Pick::kMean, .normalized = true})
                     .value();
  trainee->SetClassifierFile(testing::SentenceClassifier(trainee->config().hidden_size));
  const std::string weights = golden.Weights();
  ASSERT_TRUE(trainee->FeedWeights(peruse::testing::Bytes(weights)).ok() && trainee->FinishWeights().ok());
  const auto attributor = Attributor::Create(*trainee, /*threads=*/1).value();
  ExpectCaptums(*attributor, golden, "sentence/");
}

TEST(AttributionGoldens, AllCheckpointsAreThere) {
  EXPECT_EQ(Cases("").size(), 16u);
  EXPECT_EQ(Cases("sentence/").size(), 2u);
}

std::string NameOf(const ::testing::TestParamInfo<GoldenCase>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Captum, AttributionTest, ::testing::ValuesIn(Cases("")), NameOf);
INSTANTIATE_TEST_SUITE_P(Captum, SentenceAttributionTest, ::testing::ValuesIn(Cases("sentence/")), NameOf);

}  // namespace
}  // namespace peruse::train
