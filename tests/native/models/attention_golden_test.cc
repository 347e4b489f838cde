// Attention maps and span kernels against those of the reference library (tests/reference/make_attention_goldens.py).
#include <gtest/gtest.h>

#include <cmath>

#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

// Probabilities, at most 1: float32 rounding of scores of a size of about 10, through exp.
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
      const std::vector<std::string> maps = NamesOf(**model, "attention.");
      const std::vector<std::string> kernels = NamesOf(**model, "span_kernel.");
      std::vector<std::string> wanted = maps;
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

}  // namespace
}  // namespace peruse::testing
