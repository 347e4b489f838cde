#include "core/train/recipes/trainee.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "core/weights/weights_parser.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/weights/safetensors_writer.h"
#include "tests/native/weights/tensor_recorder.h"

namespace peruse::train {
namespace {

using peruse::testing::Bytes;
using peruse::testing::ExpectError;
using peruse::testing::ParseInChunks;
using peruse::testing::ReadFixture;
using peruse::testing::SafetensorsWriter;
using peruse::testing::TensorRecorder;

std::unique_ptr<Trainee> NewTrainee() {
  return Trainee::Create(ReadFixture("tiny/deberta-v2-sequence/config.json"), Head::kSequenceClassification, {})
      .value();
}

Status Load(Trainee& trainee, const std::string& file) {
  PERUSE_RETURN_IF_ERROR(trainee.FeedWeights(Bytes(file)));
  return trainee.FinishWeights();
}

std::string Changed(const std::function<bool(TensorInfo& info, std::string& bytes)>& change) {
  TensorRecorder recorder;
  EXPECT_TRUE(ParseInChunks<WeightsParser>(ReadFixture("tiny/deberta-v2-sequence/model.safetensors"), recorder).ok());
  SafetensorsWriter writer;
  for (size_t i = 0; i < recorder.tensors.size(); ++i) {
    TensorInfo& info = recorder.tensors[i];
    if (change(info, recorder.bytes[i])) writer.AddBytes(info.name, info.shape, recorder.bytes[i], info.dtype_name);
  }
  return writer.File();
}

TEST(Trainee, ShardsAreTheWholeFile) {
  auto whole = NewTrainee(), sharded = NewTrainee();
  ASSERT_TRUE(Load(*whole, ReadFixture("tiny/deberta-v2-sequence/model.safetensors")).ok());
  const auto files = sharded->SetShardIndex(ReadFixture("sharded/model.safetensors.index.json"));
  ASSERT_TRUE(files.ok()) << files.status().message();
  ASSERT_EQ(files->size(), 3u);
  for (const std::string& file : *files) {
    ASSERT_TRUE(sharded->FeedWeights(Bytes(ReadFixture("sharded/" + file))).ok());
    ASSERT_TRUE(sharded->EndShard().ok());
  }
  ASSERT_TRUE(sharded->FinishWeights().ok());
  const std::vector<WeightTensor>&expected = whole->weight_tensors().tensors(),
        &found = sharded->weight_tensors().tensors();
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_GT(found.size(), 30u);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, expected[i].name);
    EXPECT_FALSE(found[i].fresh) << found[i].name;
    EXPECT_TRUE(std::equal(found[i].values, found[i].values + found[i].size, expected[i].values)) << found[i].name;
  }
}

TEST(Trainee, AShardThatNeverCameIsMissed) {
  auto trainee = NewTrainee();
  EXPECT_EQ(NewTrainee()->SetShardIndex("{}").status().code(), StatusCode::kMalformedFile);
  ASSERT_TRUE(trainee->SetShardIndex(ReadFixture("sharded/model.safetensors.index.json")).ok());
  for (const char* number : {"1", "2"}) {
    const std::string file = ReadFixture("sharded/model-0000" + std::string(number) + "-of-00003.safetensors");
    ASSERT_TRUE(trainee->FeedWeights(Bytes(file)).ok());
    ASSERT_TRUE(trainee->EndShard().ok());
  }
  ExpectError(trainee->FinishWeights(), StatusCode::kMissingTensor, "encoder.rel_embeddings.weight");
}

TEST(Trainee, WhatDoesNotFitIsNamed) {
  const auto load = [](const std::function<bool(TensorInfo&, std::string&)>& change) {
    return Load(*NewTrainee(), Changed(change));
  };
  const auto is = [](const TensorInfo& info, const char* end) { return info.name.ends_with(end); };
  EXPECT_TRUE(load([](TensorInfo&, std::string&) { return true; }).ok());
  ExpectError(load([&](TensorInfo& info, std::string&) { return !is(info, "layer.1.output.dense.weight"); }),
              StatusCode::kMissingTensor, "encoder.layer.1.output.dense.weight");
  ExpectError(load([&](TensorInfo& info, std::string&) {
                if (is(info, "layer.1.output.dense.weight")) std::swap(info.shape[0], info.shape[1]);
                return true;
              }),
              StatusCode::kShapeMismatch, "layer.1.output.dense.weight [48, 32] instead of [32, 48]");
  ExpectError(load([&](TensorInfo& info, std::string&) {
                if (is(info, "layer.0.output.dense.bias")) info.dtype_name = "I16";
                return true;
              }),
              StatusCode::kUnsupported,
              "of a type that weights cannot have: deberta.encoder.layer.0.output.dense.bias I16");
  ExpectError(load([&](TensorInfo& info, std::string& bytes) {
                if (is(info, "layer.0.output.dense.bias")) bytes.replace(0, 2, std::string("\x00\x7E", 2));  // NaN
                return true;
              }),
              StatusCode::kMalformedFile, "layer.0.output.dense.bias\" holds NaN or infinity");
  // A head with a different number of labels is not an error: it starts at random.
  auto trainee = NewTrainee();
  ASSERT_TRUE(Load(*trainee, Changed([&](TensorInfo& info, std::string&) {
                return !info.name.starts_with("classifier.");
              })).ok());
  for (const WeightTensor& weight_tensor : trainee->weight_tensors().tensors()) {
    EXPECT_EQ(weight_tensor.fresh, weight_tensor.name.starts_with("classifier.")) << weight_tensor.name;
  }
}

TEST(Trainee, MixturesOfExpertsAreRefused) {
  const auto trainee =
      Trainee::Create(ReadFixture("tiny/nomic-bert-experts/config.json"), Head::kSequenceClassification, {});
  ExpectError(trainee.status(), StatusCode::kUnsupported, "a mixture of experts");
}

const WeightTensor& TensorOf(Trainee& trainee, const std::string& name) {
  for (const WeightTensor& weight_tensor : trainee.weight_tensors().tensors())
    if (weight_tensor.name == name) return weight_tensor;
  ADD_FAILURE() << name;
  return trainee.weight_tensors().tensors()[0];
}

std::unique_ptr<Trainee> WithLabels(const std::vector<std::string>& labels) {
  auto trainee =
      Trainee::Create(ReadFixture("tiny/deberta-v2-sequence/config.json"), Head::kSequenceClassification, labels);
  EXPECT_TRUE(trainee.ok()) << trainee.status().message();
  EXPECT_TRUE(Load(**trainee, ReadFixture("tiny/deberta-v2-sequence/model.safetensors")).ok());
  return std::move(*trainee);
}

// Different labels of the same number: the classifier starts at random.
TEST(Trainee, OtherLabelsMakeANewClassifier) {
  const auto own = NewTrainee();
  std::vector<std::string> labels = own->config().id2label;
  EXPECT_FALSE(TensorOf(*WithLabels(labels), "classifier.weight").fresh);
  labels[0] = "repair";
  const auto other = WithLabels(labels);
  EXPECT_TRUE(TensorOf(*other, "classifier.weight").fresh);
  EXPECT_TRUE(TensorOf(*other, "classifier.bias").fresh);
  EXPECT_FALSE(TensorOf(*other, "pooler.dense.weight").fresh);
}

TEST(Trainee, LabelsInAnotherOrderTakeTheirRowsAlong) {
  const auto own = WithLabels({});
  std::vector<std::string> labels = own->config().id2label;
  std::rotate(labels.begin(), labels.begin() + 1, labels.end());
  const auto moved = WithLabels(labels);
  const WeightTensor &before = TensorOf(*own, "classifier.weight"), &after = TensorOf(*moved, "classifier.weight");
  EXPECT_FALSE(after.fresh);
  const auto count = static_cast<int64_t>(labels.size()), width = before.size / count;
  for (int64_t row = 0; row < count; ++row) {
    const float* from = before.values + (row + 1) % count * width;
    EXPECT_TRUE(std::equal(from, from + width, after.values + row * width)) << row;
  }
}

}  // namespace
}  // namespace peruse::train
