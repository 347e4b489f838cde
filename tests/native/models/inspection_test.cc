// What a run keeps when asked, and which rows it scores.
#include <gtest/gtest.h>

#include <cmath>

#include "core/models/attention_map.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

class InspectionTest : public ::testing::Test {
 protected:
  std::unique_ptr<Model> Load(const GoldenCase& golden) {
    return LoadModel(golden.Config(), golden.Weights(), golden.Options(), *backend_).value();
  }
  void Run(Model& model, const RunOptions& options) {
    const ModelInput inputs[] = {{first_, {}}, {second_, {}}};
    ASSERT_TRUE(model.Begin(inputs, options).ok());
    ASSERT_TRUE(model.Finish().ok());
  }

  const std::vector<int32_t> first_ = {2, 7, 11, 5, 3, 9, 14};
  const std::vector<int32_t> second_ = {4, 1, 8};
  std::unique_ptr<Backend> backend_ = CreateReferenceBackend();
};

void ExpectSumsToOne(std::span<const float> values) {
  float sum = 0;
  for (const float value : values) {
    EXPECT_GE(value, 0);
    sum += value;
  }
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST_F(InspectionTest, NothingIsKeptUnlessAskedFor) {
  auto model = Load({"convbert-sequence", "ConvBertForSequenceClassification", "", 0});
  Run(*model, {});
  EXPECT_EQ(model->hidden_state_count() + model->attention_count() + model->span_kernel_count(), 0);
}

TEST_F(InspectionTest, AttentionsAreDistributionsInTheirPlace) {
  for (const GoldenCase& golden : {GoldenCase{"convbert-sequence", "ConvBertForSequenceClassification", "", 0},
                                   GoldenCase{"deberta-v2-question", "DebertaV2ForQuestionAnswering", "", 0},
                                   GoldenCase{"bert-sequence", "BertForSequenceClassification", "", 0}}) {
    auto model = Load(golden);
    Run(*model, {.attentions = true});
    ASSERT_EQ(model->attention_count(), model->config().num_hidden_layers);
    const size_t heads = static_cast<size_t>(model->attention_heads());
    for (int32_t layer = 0; layer < model->attention_count(); ++layer) {
      const std::span<const float> map = model->attention(layer);
      ASSERT_EQ(map.size(), heads * (7 + 3) * 7);
      for (size_t row = 0; row < heads * 7; ++row) ExpectSumsToOne(map.subspan(row * 7, 7));
      for (size_t row = heads * 7; row < heads * 10; ++row) {
        ExpectSumsToOne(map.subspan(row * 7, 3));
        for (const float value : map.subspan(row * 7 + 3, 4)) EXPECT_EQ(value, 0);
      }
    }
  }
}

TEST_F(InspectionTest, SpanKernelsAreDistributionsOverTheTaps) {
  auto model = Load({"convbert-sequence", "ConvBertForSequenceClassification", "", 0});
  Run(*model, {.span_kernels = true});
  ASSERT_EQ(model->span_kernel_count(), model->config().num_hidden_layers);
  const size_t kernel = static_cast<size_t>(model->config().convbert.conv_kernel_size);
  const std::span<const float> kernels = model->span_kernel(0);
  ASSERT_EQ(kernels.size(), 10 * static_cast<size_t>(model->config().convbert.heads) * kernel);
  for (size_t at = 0; at < kernels.size(); at += kernel) ExpectSumsToOne(kernels.subspan(at, kernel));
}

TEST_F(InspectionTest, OnlyTheRowsAskedForAreScored) {
  auto model = Load({"bert-masked-lm", "BertForMaskedLM", "", 0});
  Run(*model, {});
  const std::vector<float> all(model->logits().begin(), model->logits().end());
  const size_t vocabulary = static_cast<size_t>(model->logit_cols());
  ASSERT_EQ(model->logit_rows(), 10);
  const std::vector<int32_t> rows = {8, 0, 3};
  Run(*model, {.logit_rows = rows});
  ASSERT_EQ(model->logit_rows(), 3);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t v = 0; v < vocabulary; ++v) {
      ASSERT_EQ(model->logits()[i * vocabulary + v], all[static_cast<size_t>(rows[i]) * vocabulary + v]);
    }
  }
  const ModelInput input = {first_, {}};
  for (const int32_t row : {-1, 7}) {
    const std::vector<int32_t> bad = {row};
    EXPECT_EQ(model->Begin({&input, 1}, {.logit_rows = bad}).code(), StatusCode::kInvalidArgument);
  }
}

TEST(DiagonalConcentrationTest, BandOverTheRest) {
  // 6 x 6 uniform: of 36 cells, two are five off the diagonal.
  const std::vector<float> uniform(36, 1.0f / 6);
  EXPECT_NEAR(DiagonalConcentration(uniform, 6, 6), 34.0 / 2, 1e-5);
  // Wider rows: columns past the length don't count.
  std::vector<float> wide(6 * 8, 100.0f);
  for (size_t i = 0; i < 6; ++i) std::fill_n(wide.begin() + static_cast<std::ptrdiff_t>(i * 8), 6, 1.0f / 6);
  EXPECT_NEAR(DiagonalConcentration(wide, 6, 8), 34.0 / 2, 1e-5);
  EXPECT_TRUE(std::isinf(DiagonalConcentration(uniform, 5, 6)));
}

}  // namespace
}  // namespace peruse::testing
