#include <gtest/gtest.h>

#include <cmath>

#include "core/backend/reference/reference_backend.h"
#include "core/model/attention_maps.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

class InspectionTest : public ::testing::Test {
 protected:
  std::unique_ptr<Runner> Load(const GoldenCase& golden) {
    return LoadModel(golden.Config(), golden.Weights(), golden.Options(), *backend_).value();
  }
  void Run(Runner& model, const RunOptions& options) {
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
  for (const OutputId id : model->Outputs()) {
    EXPECT_EQ(model->output(id).values.empty(), id != kLogits) << NameOf(id);
  }
}

TEST_F(InspectionTest, AttentionsAreDistributionsInTheirPlace) {
  for (const GoldenCase& golden : {GoldenCase{"convbert-sequence", "ConvBertForSequenceClassification", "", 0},
                                   GoldenCase{"deberta-v2-question", "DebertaV2ForQuestionAnswering", "", 0},
                                   GoldenCase{"bert-sequence", "BertForSequenceClassification", "", 0}}) {
    auto model = Load(golden);
    const std::vector<OutputId> names = OutputsOf(*model, OutputKind::kAttention);
    Run(*model, {.outputs = names});
    ASSERT_EQ(names.size(), static_cast<size_t>(model->config().num_hidden_layers));
    const size_t heads = static_cast<size_t>(model->attention_heads());
    for (const OutputId name : names) {
      const std::span<const float> map = model->output(name).values;
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
  const std::vector<OutputId> names = OutputsOf(*model, OutputKind::kSpanKernel);
  ASSERT_EQ(names.size(), static_cast<size_t>(model->config().num_hidden_layers));
  Run(*model, {.outputs = names});
  constexpr size_t kernel = 9;  // the default of conv_kernel_size
  const std::span<const float> kernels = model->output(names[0]).values;
  ASSERT_EQ(kernels.size(), 10 * static_cast<size_t>(model->span_kernel_heads()) * kernel);
  for (size_t at = 0; at < kernels.size(); at += kernel) ExpectSumsToOne(kernels.subspan(at, kernel));
}

TEST_F(InspectionTest, OnlyTheRowsAskedForAreScored) {
  auto model = Load({"bert-masked-lm", "BertForMaskedLM", "", 0});
  Run(*model, {});
  const std::vector<float> all = ValuesOf(*model, kLogits);
  const size_t vocabulary = static_cast<size_t>(model->output(kLogits).cols);
  ASSERT_EQ(model->output(kLogits).row_count(), 10);
  const std::vector<int32_t> rows = {8, 0, 3};
  Run(*model, {.logit_rows = rows});
  const ModelOutput some = model->output(kLogits);
  ASSERT_EQ(some.row_count(), 3);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t v = 0; v < vocabulary; ++v) {
      ASSERT_EQ(some.values[i * vocabulary + v], all[static_cast<size_t>(rows[i]) * vocabulary + v]);
    }
  }
  const ModelInput input = {first_, {}};
  for (const int32_t row : {-1, 7}) {
    const std::vector<int32_t> bad = {row};
    EXPECT_EQ(model->Begin({&input, 1}, {.logit_rows = bad}).code(), StatusCode::kInvalidArgument);
  }
}

TEST_F(InspectionTest, AnOutputThatTheModelHasNotIsRefusedByName) {
  auto model = Load({"bert-masked-lm", "BertForMaskedLM", "", 0});
  const ModelInput input = {first_, {}};
  for (const OutputId id :
       {OutputId{OutputKind::kHidden, 99}, OutputId{OutputKind::kSpanKernel, 0}, kLastHiddenState}) {
    const std::vector<OutputId> ids = {kLogits, id};
    const Status status = model->Begin({&input, 1}, {.outputs = ids});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << NameOf(id);
    EXPECT_NE(status.message().find('"' + NameOf(id) + '"'), std::string::npos) << status.message();
  }
}

TEST(DiagonalConcentrationTest, BandOverTheRest) {
  // 6 x 6 uniform: two of 36 cells are five positions off the diagonal.
  const std::vector<float> uniform(36, 1.0f / 6);
  EXPECT_NEAR(DiagonalConcentration(uniform, 6, 6), 34.0 / 2, 1e-5);
  std::vector<float> wide(6 * 8, 100.0f);
  for (size_t i = 0; i < 6; ++i) std::fill_n(wide.begin() + static_cast<std::ptrdiff_t>(i * 8), 6, 1.0f / 6);
  EXPECT_NEAR(DiagonalConcentration(wide, 6, 8), 34.0 / 2, 1e-5);
  EXPECT_TRUE(std::isinf(DiagonalConcentration(uniform, 5, 6)));
}

}  // namespace
}  // namespace peruse::testing
