#include <gtest/gtest.h>

#include <cmath>

#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

// For probabilities up to 1: float32 rounding of scores of about 10, through exp.
constexpr float kTolerance = 1e-5f;

struct AttentionCase {
  const char* name;
  const char* model;
};

constexpr AttentionCase kCases[] = {
    {"bert-sequence", "BertForSequenceClassification"},
    {"bert-relative-key", "BertForSequenceClassification"},
    {"bert-relative-key-query", "BertForSequenceClassification"},
    {"electra-sequence", "ElectraForSequenceClassification"},
    {"convbert-sequence", "ConvBertForSequenceClassification"},
    {"convbert-groups2", "ConvBertForSequenceClassification"},
    {"convbert-ratio8", "ConvBertForSequenceClassification"},
    {"convbert-heads6", "ConvBertForSequenceClassification"},
    {"deberta-v1-sequence", "DebertaForSequenceClassification"},
    {"deberta-v1-c2p", "DebertaForSequenceClassification"},
    {"deberta-v1-absolute", "DebertaForSequenceClassification"},
    {"deberta-v2-sequence", "DebertaV2ForSequenceClassification"},
    {"deberta-v2-own-keys", "DebertaV2ForSequenceClassification"},
    {"deberta-v2-own-keys-p2c", "DebertaV2ForSequenceClassification"},
    {"deberta-v2-buckets64", "DebertaV2ForQuestionAnswering"},
    {"deberta-v2-conv", "DebertaV2ForSequenceClassification"},
    {"deberta-v2-absolute", "DebertaV2ForSequenceClassification"},
};

void ExpectNear(std::span<const float> actual, const std::vector<float>& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  float worst = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const float error = std::abs(actual[i] - expected[i]);
    worst = error <= worst ? worst : error;  // NaN stays
  }
  EXPECT_LE(worst, kTolerance) << what;
}

TEST(AttentionGoldenTest, MapsAndSpanKernelsOfTheReference) {
  for (const BackendUnderTest& under_test : BackendsUnderTest()) {
    for (const AttentionCase& entry : kCases) {
      const std::string what = under_test.name + " " + entry.name;
      const GoldenCase golden = {entry.name, entry.model, "", 0};
      const TensorFile expected = TensorFile::Read("attention/" + golden.name + ".safetensors");
      const std::unique_ptr<Backend> backend = under_test.create();
      auto model = LoadModel(golden.Config(), golden.Weights(), golden.Options(), *backend);
      ASSERT_TRUE(model.ok()) << what << model.status().message();
      const std::vector<int32_t> ids = expected.Ints("input_ids");
      const ModelInput input = {ids, {}};
      const std::vector<OutputId> maps = OutputsOf(**model, OutputKind::kAttention);
      const std::vector<OutputId> kernels = OutputsOf(**model, OutputKind::kSpanKernel);
      std::vector<OutputId> wanted = maps;
      wanted.insert(wanted.end(), kernels.begin(), kernels.end());
      ASSERT_TRUE((*model)->Begin({&input, 1}, {.outputs = wanted}).ok());
      ASSERT_TRUE((*model)->Finish().ok());

      const auto layers = static_cast<size_t>((*model)->config().num_hidden_layers);
      const bool has_kernels = expected.Has("span_kernels.0");
      ASSERT_EQ(maps.size(), layers) << what;
      ASSERT_EQ(kernels.size(), has_kernels ? layers : 0) << what;
      for (size_t l = 0; l < layers; ++l) {
        const std::string number = std::to_string(l);
        ExpectNear(ValuesOf(**model, maps[l]), expected.Floats("attentions." + number), what + " map " + number);
        if (!has_kernels) continue;
        ExpectNear(ValuesOf(**model, kernels[l]), expected.Floats("span_kernels." + number),
                   what + " kernels " + number);
      }
    }
  }
}

struct MoreCase {
  std::string what;
  TensorFile expected;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<Runner> model;
  std::vector<int32_t> ids;
};

template <typename Check>
void ForEachCase(Check check) {
  for (const BackendUnderTest& under_test : BackendsUnderTest()) {
    for (const AttentionCase& entry : kCases) {
      const GoldenCase golden = {entry.name, entry.model, "", 0};
      MoreCase one = {under_test.name + " " + entry.name,
                      TensorFile::Read("attention/" + golden.name + ".more.safetensors"),
                      under_test.create(),
                      nullptr,
                      {}};
      one.model = LoadModel(golden.Config(), golden.Weights(), golden.Options(), *one.backend).value();
      one.ids = one.expected.Ints("input_ids");
      check(one);
    }
  }
}

// For hidden states, which are normalised to about 1, after a few layers.
constexpr float kHiddenTolerance = 2e-5f;

TEST(AttentionGoldenTest, HeadMaskOfTheReference) {
  ForEachCase([](MoreCase& one) {
    const std::vector<float> mask = one.expected.Floats("head_mask");
    const ModelInput input = {one.ids, {}};
    const std::vector<OutputId> states = OutputsOf(*one.model, OutputKind::kHidden);
    ASSERT_EQ(mask.size(), static_cast<size_t>(one.model->attention_layers() * one.model->attention_heads()))
        << one.what;
    // A run with the mask must not affect later runs.
    ASSERT_TRUE(one.model->Begin({&input, 1}, {.outputs = states}).ok());
    ASSERT_TRUE(one.model->Finish().ok());
    const std::vector<float> unmasked = ValuesOf(*one.model, states.back());
    ASSERT_TRUE(one.model->Begin({&input, 1}, {.outputs = states, .head_mask = mask}).ok());
    ASSERT_TRUE(one.model->Finish().ok());
    EXPECT_NE(ValuesOf(*one.model, states.back()), unmasked) << one.what;
    for (size_t l = 0; l < states.size(); ++l) {
      const std::vector<float> actual = ValuesOf(*one.model, states[l]);
      const std::vector<float> expected = one.expected.Floats("masked.hidden_states." + std::to_string(l));
      ASSERT_EQ(actual.size(), expected.size()) << one.what;
      for (size_t i = 0; i < actual.size(); ++i) {
        ASSERT_NEAR(actual[i], expected[i], kHiddenTolerance) << one.what << " " << NameOf(states[l]) << " at " << i;
      }
    }
    ASSERT_TRUE(one.model->Begin({&input, 1}, {.outputs = states}).ok());
    ASSERT_TRUE(one.model->Finish().ok());
    EXPECT_EQ(ValuesOf(*one.model, states.back()), unmasked) << one.what;
    const std::vector<float> wrong(mask.size() + 1);
    EXPECT_EQ(one.model->Begin({&input, 1}, {.head_mask = wrong}).code(), StatusCode::kInvalidArgument);
  });
}

TEST(AttentionGoldenTest, TermsOfTheReference) {
  int compared = 0;
  ForEachCase([&](MoreCase& one) {
    if (OutputsOf(*one.model, OutputKind::kQuery).empty()) return;
    const ModelInput input = {one.ids, {}};
    std::vector<OutputId> wanted = OutputsOf(*one.model, OutputKind::kAttention);
    for (const OutputKind kind :
         {OutputKind::kQuery, OutputKind::kKey, OutputKind::kPositionKey, OutputKind::kPositionQuery}) {
      const std::vector<OutputId> ids = OutputsOf(*one.model, kind);
      wanted.insert(wanted.end(), ids.begin(), ids.end());
    }
    ASSERT_TRUE(one.model->Begin({&input, 1}, {.outputs = wanted}).ok());
    ASSERT_TRUE(one.model->Finish().ok());
    for (int32_t l = 0; l < one.model->config().num_hidden_layers; ++l) {
      const std::string number = "." + std::to_string(l);
      const AttentionTerms terms = one.model->attention_terms(l);
      std::vector<float> sum = ContentToContent(terms);
      if (one.expected.Has("c2c" + number))
        ExpectNear(sum, one.expected.Floats("c2c" + number), one.what + " c2c" + number);
      const auto add = [&](const char* name, std::span<const float> table, const std::vector<float>& term) {
        EXPECT_EQ(one.expected.Has(name + number), !table.empty()) << one.what << " " << name;
        if (table.empty()) return;
        ExpectNear(term, one.expected.Floats(name + number), one.what + " " + name + number);
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
        ++compared;
      };
      add("c2p", terms.position_key, terms.position_key.empty() ? std::vector<float>() : ContentToPosition(terms));
      add("p2c", terms.position_query, terms.position_query.empty() ? std::vector<float>() : PositionToContent(terms));
      const size_t tokens = one.ids.size();
      const std::vector<float> map = ValuesOf(*one.model, {OutputKind::kAttention, l});
      for (size_t row = 0; row < sum.size(); row += tokens) {
        double total = 0;
        for (size_t j = 0; j < tokens; ++j) total += std::exp(static_cast<double>(sum[row + j]));
        for (size_t j = 0; j < tokens; ++j) {
          EXPECT_NEAR(map[row + j], std::exp(static_cast<double>(sum[row + j])) / total, kTolerance)
              << one.what << number;
        }
      }
    }
  });
  EXPECT_GT(compared, 10);
}

}  // namespace
}  // namespace peruse::testing
