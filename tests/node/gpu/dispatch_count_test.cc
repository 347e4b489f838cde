// The number of dispatches of a layer, which is the same at every length. Each one costs the GPU's driver time.
#include <gtest/gtest.h>

#include "core/backend/webgpu/webgpu_backend.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

// Dispatches of a run over one text of `length` tokens, of the checkpoint's first `layers` layers; recorded only, no GPU
// needed.
int32_t Dispatches(const std::string& name, size_t length, int32_t layers, Precision precision) {
  const GoldenCase golden{name, "", "of the class"};
  std::string config = golden.Config();
  const std::string key = "\"num_hidden_layers\": ";
  const size_t place = config.find(key);
  PERUSE_CHECK(place != std::string::npos);
  config[place + key.size()] = static_cast<char>('0' + layers);
  const auto backend = CreateWebGpuBackend();
  auto model = LoadModel(config, golden.Weights(), {.head = Head::kSequenceClassification, .precision = precision}, *backend);
  PERUSE_CHECK(model.ok() && (*model)->config().num_hidden_layers == layers);
  const std::vector<int32_t> ids(length, 7);
  const ModelInput input = {ids, {}};
  PERUSE_CHECK((*model)->Begin({&input, 1}).ok());
  return backend->dispatches();
}

// Dispatches of one more layer, at any length.
void ExpectPerLayer(const std::string& name, int32_t per_layer, Precision precision = Precision::kF16) {
  for (const size_t length : {1, 20, 60}) {
    EXPECT_EQ(Dispatches(name, length, 2, precision) - Dispatches(name, length, 1, precision), per_layer)
        << name << ", " << length;
  }
}

// query-key-value, two position products, attention, output, norm, two of the feed-forward, norm.
TEST(DispatchCount, Deberta) {
  ExpectPerLayer("deberta-v2-sequence", 9);
  ExpectPerLayer("deberta-v1-sequence", 9);
}

TEST(DispatchCount, Bert) { ExpectPerLayer("bert-sequence", 7); }

// BERT's 7, and for the convolution heads: depthwise, pointwise times query, span convolution with its kernels.
TEST(DispatchCount, ConvBert) { ExpectPerLayer("convbert-sequence", 10); }

// Rows are quantised once for each product with int8 weights: of attention, and two of the feed-forward, four; ConvBERT's pointwise
// one and its kernels are two more, and the kernels are a product of their own.
TEST(DispatchCount, Q8) {
  ExpectPerLayer("bert-sequence", 7 + 4, Precision::kQ8);
  ExpectPerLayer("deberta-v2-sequence", 9 + 4, Precision::kQ8);
  ExpectPerLayer("convbert-sequence", 10 + 7, Precision::kQ8);
}

TEST(DispatchCount, Electra) { ExpectPerLayer("electra-sequence", 7); }

// Counts of created GPU objects: shaders, pipelines, buffers.
int32_t Made(const WebGpuBackend& backend) {
  int32_t made = 0;
  const auto words = backend.commands();
  for (size_t at = 0; at < words.size(); at += words[at + 1]) made += words[at] <= 3;
  return made;
}

// The first run of a length creates the buffers of its bucket. All pipelines exist before the first run.
TEST(WarmRun, MakesNothingForAnyLengthOfItsBucket) {
  for (const char* name : {"deberta-v2-sequence", "deberta-v1-sequence", "convbert-sequence", "bert-relative-key",
                           "electra-sequence"}) {
    const GoldenCase golden{name, "", "of the class"};
    const auto backend = CreateWebGpuBackend();
    auto model = LoadModel(golden.Config(), golden.Weights(), {.head = Head::kSequenceClassification}, *backend);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto run = [&](size_t length) {
      backend->ClearCommands();
      const std::vector<int32_t> ids(length, 7);
      const ModelInput input = {ids, {}};
      EXPECT_TRUE((*model)->Begin({&input, 1}).ok()) << name;
      return Made(*backend);
    };
    EXPECT_GT(run(50), 0) << name;
    for (const size_t length : {49, 50, 57, 64}) EXPECT_EQ(run(length), 0) << name << ", " << length << " tokens";
  }
}

int32_t Pipelines(const WebGpuBackend& backend) {
  int32_t pipelines = 0;
  const auto words = backend.commands();
  for (size_t at = 0; at < words.size(); at += words[at + 1]) pipelines += words[at] == 2;
  return pipelines;
}

TEST(WarmRun, PipelinesAreNamedBeforeTheWeights) {
  for (const auto& [name, precision] : {std::pair("deberta-v2-conv", Precision::kF16),
                                        {"convbert-sequence", Precision::kF16},
                                        {"bert-sequence", Precision::kF16},
                                        {"deberta-v2-conv", Precision::kQ8},
                                        {"convbert-sequence", Precision::kQ8}}) {
    const GoldenCase golden{name, "", "of the class"};
    const auto backend = CreateWebGpuBackend();
    const ModelOptions options = {.head = Head::kSequenceClassification, .precision = precision};
    ASSERT_TRUE(ModelLoader::Create(golden.Config(), options, *backend).ok());
    const int32_t prepared = Pipelines(*backend);
    EXPECT_GT(prepared, 4) << name;
    // Another model of the same sizes, on the same backend: it creates only what its predecessor did not prepare.
    const auto model = LoadModel(golden.Config(), golden.Weights(), options, *backend);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const std::vector<int32_t> ids(50, 7);
    const std::vector<ModelInput> short_run(1, {ids, {}});
    const std::vector<ModelInput> long_run(5, {ids, {}});
    ASSERT_TRUE((*model)->Begin(short_run).ok());
    ASSERT_TRUE((*model)->Begin(long_run).ok());
    EXPECT_EQ(Pipelines(*backend), prepared) << name;
  }
}

}  // namespace
}  // namespace peruse::testing
