// Compares all hidden states and logits of every tiny checkpoint with transformers, on every backend, text by text and as one batch.
#include <gtest/gtest.h>

#include <cmath>

#include "core/backend/reference/reference_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

// float32 rounding of transformers' run; a wrong term shows at 1e-2 or more. Relative above 1.
constexpr float kTolerance = 1e-5f;

void ExpectNear(std::span<const float> actual, std::span<const float> expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  size_t worst = 0;
  float worst_error = -1;
  for (size_t i = 0; i < actual.size(); ++i) {
    const float error = std::abs(actual[i] - expected[i]) / std::max(1.0f, std::abs(expected[i]));
    if (!(error <= worst_error)) {
      worst_error = error;
      worst = i;
    }
  }
  EXPECT_LE(worst_error, kTolerance) << what << ": worst at " << worst << ", " << actual[worst] << " instead of "
                                     << expected[worst];
}

std::span<const float> RowsOf(std::span<const float> values, int32_t cols, int32_t first_row, int32_t rows) {
  return values.subspan(static_cast<size_t>(first_row) * static_cast<size_t>(cols),
                        static_cast<size_t>(rows) * static_cast<size_t>(cols));
}

struct Parameter {
  BackendUnderTest backend;
  GoldenCase golden;
};

void PrintTo(const Parameter& parameter, std::ostream* out) { *out << parameter.golden.name; }

// Peruse rejects only this case: no released checkpoint has talking heads.
constexpr std::string_view kRefused = "deberta-v1-talking-heads";

TEST(MixtureTest, ABackendThatDoesNotMixExpertsRefusesThemByName) {
  for (const BackendUnderTest& backend : BackendsUnderTest()) {
    for (const GoldenCase& golden : GoldenCases()) {
      if (!BackendUnderTest::IsMixture(golden.name)) continue;
      const auto own = backend.create();
      const auto loader = ModelLoader::Create(golden.Config(), golden.Options(), *own);
      EXPECT_EQ(loader.ok(), backend.mixes_experts);
      if (loader.ok()) continue;
      EXPECT_EQ(loader.status().code(), StatusCode::kUnsupported);
      EXPECT_NE(loader.status().message().find("not run on the GPU"), std::string::npos);
    }
  }
}

std::vector<Parameter> Parameters() {
  std::vector<Parameter> parameters;
  for (const BackendUnderTest& backend : BackendsUnderTest()) {
    for (const GoldenCase& golden : GoldenCases()) {
      if (golden.name != kRefused && backend.Runs(golden.name)) parameters.push_back({backend, golden});
    }
  }
  return parameters;
}

class GoldenTest : public ::testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override {
    const GoldenCase& golden = GetParam().golden;
    backend_ = GetParam().backend.create();
    ASSERT_NE(backend_, nullptr);
    expected_ = golden.Expected();
    texts_ = GoldenTexts(golden, expected_);
    ASSERT_GE(texts_.size(), 3u);
    // With an odd size, chunks end within elements, rows and tensors.
    auto model = LoadModel(golden.Config(), golden.Weights(), golden.Options(), *backend_, 997);
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::move(*model);
  }

  void Run(std::span<const ModelInput> inputs) {
    std::vector<OutputId> ids = OutputsOf(*model_, OutputKind::kHidden);
    ASSERT_EQ(ids.size(), static_cast<size_t>(model_->config().num_hidden_layers + 1));
    ids.push_back(model_->head() == Head::kNone ? kLastHiddenState : kLogits);
    ASSERT_TRUE(model_->Begin(inputs, {.outputs = ids}).ok());
    ASSERT_TRUE(model_->Finish().ok());
    for (const OutputId id : ids) ASSERT_FALSE(model_->output(id).values.empty()) << NameOf(id);
  }

  void ExpectGolden(int32_t s, const GoldenText& text) const {
    const RaggedBatch& batch = model_->batch();
    const int32_t hidden = model_->config().hidden_size;
    // The goldens contain the ordinary output of the last layer, not that of the enhanced mask decoder.
    const int32_t last = GetParam().golden.Options().enhanced_mask_decoder ? model_->config().num_hidden_layers : -1;
    for (const OutputId output : OutputsOf(*model_, OutputKind::kHidden)) {
      const std::span<const float> states = model_->output(output).values;
      if (states.empty() || output.layer == last) continue;
      const std::string name = text.name + ".hidden_states." + std::to_string(output.layer);
      ExpectNear(RowsOf(states, hidden, batch.start(s), batch.length(s)), Choice(name, text), name);
    }
    if (model_->head() == Head::kNone) {
      const std::string name = text.name + ".hidden_states." + std::to_string(model_->config().num_hidden_layers);
      const std::span<const float> states = model_->output(kLastHiddenState).values;
      ExpectNear(RowsOf(states, hidden, batch.start(s), batch.length(s)), Choice(name, text), name);
      return;
    }
    const ModelOutput logits = model_->output(kLogits);
    const bool by_sequence = model_->head() == Head::kSequenceClassification || model_->head() == Head::kMultipleChoice;
    ASSERT_EQ(logits.row_count(), by_sequence ? batch.sequences() : batch.rows());
    const auto actual = by_sequence ? RowsOf(logits.values, logits.cols, s, 1)
                                    : RowsOf(logits.values, logits.cols, batch.start(s), batch.length(s));
    if (model_->head() != Head::kQuestionAnswering) {
      ExpectNear(actual, Choice(text.name + ".logits", text), text.name + ".logits");
      return;
    }
    std::vector<float> start, end;
    for (size_t i = 0; i < actual.size(); i += 2) {
      start.push_back(actual[i]);
      end.push_back(actual[i + 1]);
    }
    ExpectNear(start, expected_.Floats(text.name + ".start_logits"), text.name + ".start_logits");
    ExpectNear(end, expected_.Floats(text.name + ".end_logits"), text.name + ".end_logits");
  }

  std::vector<float> Choice(const std::string& name, const GoldenText& text) const {
    const std::vector<float> all = expected_.Floats(name);
    const auto size = static_cast<std::ptrdiff_t>(all.size()) / std::max(1, GetParam().golden.choices);
    return {all.begin() + text.choice * size, all.begin() + (text.choice + 1) * size};
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Runner> model_;
  TensorFile expected_;
  std::vector<GoldenText> texts_;
};

TEST_P(GoldenTest, TextByText) {
  for (const GoldenText& text : texts_) {
    const ModelInput input = text.input();
    Run({&input, 1});
    ExpectGolden(0, text);
  }
}

TEST_P(GoldenTest, RaggedBatch) {
  std::vector<ModelInput> inputs;
  for (const GoldenText& text : texts_) inputs.push_back(text.input());
  Run(inputs);
  for (size_t s = 0; s < texts_.size(); ++s) ExpectGolden(static_cast<int32_t>(s), texts_[s]);
}

// The last layer then computes only the rows that the head reads.
TEST_P(GoldenTest, WithoutHiddenStates) {
  std::vector<ModelInput> inputs;
  for (const GoldenText& text : texts_) inputs.push_back(text.input());
  ASSERT_TRUE(model_->Begin(inputs, {}).ok());
  ASSERT_TRUE(model_->Finish().ok());
  for (const OutputId id : OutputsOf(*model_, OutputKind::kHidden)) {
    ASSERT_TRUE(model_->output(id).values.empty()) << NameOf(id);
  }
  for (size_t s = 0; s < texts_.size(); ++s) ExpectGolden(static_cast<int32_t>(s), texts_[s]);
}

TEST(RefusedCheckpoint, TalkingHeadsAreRefusedByName) {
  const std::unique_ptr<Backend> backend = CreateReferenceBackend();
  const GoldenCase golden = {std::string(kRefused), "DebertaForSequenceClassification", "", 0};
  const auto model = ModelLoader::Create(golden.Config(), golden.Options(), *backend);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().code(), StatusCode::kUnsupported);
  EXPECT_NE(model.status().message().find("talking_head"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Tiny, GoldenTest, ::testing::ValuesIn(Parameters()),
                         [](const ::testing::TestParamInfo<Parameter>& info) {
                           std::string name = info.param.backend.name + "_" + info.param.golden.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace peruse::testing
