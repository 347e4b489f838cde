#include <gtest/gtest.h>

#include "core/backend/reference/reference_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"

namespace peruse::testing {
namespace {

std::vector<float> Logits(Runner& model) {
  const std::vector<int32_t> ids = {2, 7, 11, 5};
  const ModelInput input = {ids, {}};
  EXPECT_TRUE(model.Begin({&input, 1}).ok());
  EXPECT_TRUE(model.Finish().ok());
  return ValuesOf(model, kLogits);
}

TEST(PytorchModelTest, BothFormsGiveTheModelOfTheSafetensorsFile) {
  const GoldenCase golden = {"convbert-masked-lm", "ConvBertForMaskedLM", "of the class", 0};
  const std::unique_ptr<Backend> backend = CreateReferenceBackend();
  const auto expected = LoadWeights(golden.Config(), golden.Weights(), golden.Options(), *backend);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  for (const char* file : {"pytorch/convbert-masked-lm.bin", "pytorch/convbert-masked-lm-legacy.bin"}) {
    for (const size_t chunk : {size_t{1} << 16, size_t{977}}) {
      const auto model = LoadWeights(golden.Config(), ReadFixture(file), golden.Options(), *backend, chunk);
      ASSERT_TRUE(model.ok()) << file << ": " << model.status().message();
      EXPECT_EQ(Logits(*CreateRunner(*model)), Logits(*CreateRunner(*expected))) << file;
      EXPECT_EQ((*model)->report.tensors_used, (*expected)->report.tensors_used);
      EXPECT_EQ((*model)->report.weight_bytes, (*expected)->report.weight_bytes);
    }
  }
}

TEST(PytorchModelTest, ATornFileIsTruncated) {
  const GoldenCase golden = {"convbert-masked-lm", "ConvBertForMaskedLM", "of the class", 0};
  const std::unique_ptr<Backend> backend = CreateReferenceBackend();
  const std::string file = ReadFixture("pytorch/convbert-masked-lm.bin");
  for (size_t size = 0; size < file.size(); size += 2903) {
    const auto model = LoadModel(golden.Config(), file.substr(0, size), golden.Options(), *backend);
    EXPECT_EQ(model.status().code(), StatusCode::kTruncatedFile) << size << ": " << model.status().message();
  }
}

TEST(PytorchModelTest, Shards) {
  const GoldenCase golden = {"deberta-v2-sequence", "DebertaV2ForSequenceClassification", "of the class", 0};
  const std::unique_ptr<Backend> backend = CreateReferenceBackend();
  const auto load = [&](const std::string& folder, const std::string& index) {
    const std::unique_ptr<ModelLoader> loader =
        ModelLoader::Create(golden.Config(), golden.Options(), *backend).value();
    const auto files = loader->SetShardIndex(ReadFixture(folder + index));
    EXPECT_TRUE(files.ok()) << files.status().message();
    for (const std::string& file : *files) {
      const std::string content = ReadFixture(folder + file);
      const Status status = loader->Feed(Bytes(content));
      EXPECT_TRUE(status.ok()) << file << ": " << status.message();
      EXPECT_TRUE(loader->EndShard().ok());
    }
    return Logits(*CreateRunner(loader->Finish().value()));
  };
  EXPECT_EQ(load("pytorch/", "pytorch_model.bin.index.json"), load("sharded/", "model.safetensors.index.json"));
}

}  // namespace
}  // namespace peruse::testing
