#include "core/weights/lora.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/native/models/fixtures.h"
#include "tests/native/weights/safetensors_writer.h"
#include "tests/native/weights/tensor_recorder.h"

namespace peruse::testing {
namespace {

const std::vector<std::string> kPrefixes = {"deberta.", "bert.", "electra.", "model."};

Status Read(LoraAdapter& adapter, const std::string& config, const std::string& weights) {
  PERUSE_RETURN_IF_ERROR(adapter.ReadConfig(config));
  PERUSE_RETURN_IF_ERROR(adapter.Feed(Bytes(weights)));
  return adapter.Finish();
}

std::vector<float> ToFloats(const TensorInfo& info, const std::string& bytes) {
  std::vector<float> values(bytes.size() / static_cast<size_t>(DTypeSize(*info.dtype)));
  ConvertToFloat(*info.dtype, Bytes(bytes), values);
  return values;
}

struct Case {
  const char* adapter;
  const char* base;
};

class LoraTest : public ::testing::TestWithParam<Case> {};

TEST_P(LoraTest, MergesAsPeftDoes) {
  const std::string folder = "adapters/" + std::string(GetParam().adapter) + "/";
  LoraAdapter adapter;
  const Status status =
      Read(adapter, ReadFixture(folder + "adapter_config.json"), ReadFixture(folder + "adapter_model.safetensors"));
  ASSERT_TRUE(status.ok()) << status.message();
  TensorRecorder expected;
  ASSERT_TRUE(ParseInChunks<WeightsParser>(ReadFixture(folder + "merged.safetensors"), expected).ok());

  const std::string base = ReadFixture("tiny/" + std::string(GetParam().base) + "/model.safetensors");
  for (const size_t chunk : {size_t{1} << 20, size_t{101}}) {
    TensorRecorder merged;
    LoraMerger merger(adapter, kPrefixes, merged);
    WeightsParser parser(merger);
    for (size_t at = 0; at < base.size(); at += chunk) {
      const Status fed = parser.Feed(Bytes(base).subspan(at, std::min(chunk, base.size() - at)));
      ASSERT_TRUE(fed.ok()) << fed.message();
    }
    ASSERT_TRUE(parser.Finish().ok());
    size_t changed = 0;
    for (size_t i = 0; i < expected.tensors.size(); ++i) {
      const std::string& name = expected.tensors[i].name;
      size_t at = 0;
      const auto same = [&](const std::string& other) {
        return other == name || other.ends_with("." + name) || name.ends_with("." + other);
      };
      while (at < merged.tensors.size() && !same(merged.tensors[at].name)) ++at;
      ASSERT_LT(at, merged.tensors.size()) << name;
      EXPECT_EQ(merged.tensors[at].shape, expected.tensors[i].shape) << name;
      EXPECT_EQ(merged.tensors[at].bytes(), merged.bytes[at].size()) << name;
      const std::vector<float> values = ToFloats(merged.tensors[at], merged.bytes[at]);
      const std::vector<float> wanted = ToFloats(expected.tensors[i], expected.bytes[i]);
      ASSERT_EQ(values.size(), wanted.size()) << name;
      for (size_t k = 0; k < values.size(); ++k) ASSERT_NEAR(values[k], wanted[k], 1e-6) << name << " " << k;
      changed += merged.tensors[at].dtype == DType::kF32 ? 1 : 0;
    }
    EXPECT_GE(changed, adapter.updates().size());
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, LoraTest,
                         ::testing::Values(Case{"linear", "deberta-v2-sequence"}, Case{"patterns", "bert-token"},
                                           Case{"embeddings", "electra-sequence"}, Case{"keys", "bert-token"},
                                           Case{"dora", "deberta-v2-sequence"}, Case{"lora-bias", "electra-sequence"},
                                           Case{"labels", "deberta-v2-bare"}, Case{"second", "bert-token"},
                                           Case{"modernbert", "modernbert-sequence"}, Case{"resized", "bert-token"},
                                           Case{"resized-factors", "electra-sequence"},
                                           Case{"resized-module", "bert-token"}),
                         [](const ::testing::TestParamInfo<Case>& info) {
                           std::string name = info.param.adapter;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

constexpr char kConfig[] = R"({"peft_type":"LORA","lora_alpha":2,"r":1})";

std::string OneUpdate(const std::string& module = "base_model.model.encoder.query") {
  SafetensorsWriter writer;
  writer.Add(module + ".lora_A.weight", {1, 2}, std::vector<float>{1, 10});
  writer.Add(module + ".lora_B.weight", {3, 1}, std::vector<float>{1, 2, 3});
  return writer.File();
}

std::string Base(const std::string& dtype = "F32", const std::vector<int64_t>& shape = {3, 2}) {
  SafetensorsWriter writer;
  writer.Add("bert.encoder.query.weight", shape, std::vector<float>(6, 1), dtype);
  writer.Add("bert.encoder.query.bias", {1}, std::vector<float>{7});
  return writer.File();
}

Status Merge(const std::string& adapter_file, const std::string& base, TensorRecorder& merged) {
  LoraAdapter adapter;
  PERUSE_RETURN_IF_ERROR(Read(adapter, kConfig, adapter_file));
  LoraMerger merger(adapter, kPrefixes, merged);
  WeightsParser parser(merger);
  PERUSE_RETURN_IF_ERROR(parser.Feed(Bytes(base)));
  return parser.Finish();
}

TEST(LoraMergerTest, NamesMeetWithAndWithoutPrefixes) {
  for (const char* module :
       {"base_model.model.encoder.query", "base_model.model.bert.encoder.query", "encoder.query"}) {
    TensorRecorder merged;
    const Status status = Merge(OneUpdate(module), Base("F16"), merged);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(merged.tensors[0].dtype, DType::kF32);
    EXPECT_EQ(merged.bytes[0], FloatBytes(std::vector<float>{3, 21, 5, 41, 7, 61}));
    EXPECT_EQ(merged.bytes[1], FloatBytes(std::vector<float>{7}));
  }
}

// peft cannot merge it either.
TEST(LoraMergerTest, ABiasForALayerWithoutOneIsRefusedByName) {
  SafetensorsWriter writer;
  writer.Add("encoder.query.lora_A.weight", {1, 2}, std::vector<float>{1, 10});
  writer.Add("encoder.query.lora_B.weight", {3, 1}, std::vector<float>{1, 2, 3});
  writer.Add("encoder.query.lora_B.bias", {3}, std::vector<float>{1, 2, 3});
  LoraAdapter adapter;
  ASSERT_TRUE(Read(adapter, R"({"peft_type":"LORA","lora_alpha":2,"r":1,"lora_bias":true})", writer.File()).ok());
  SafetensorsWriter base;
  base.Add("bert.encoder.query.weight", {3, 2}, std::vector<float>(6, 1));
  TensorRecorder merged;
  LoraMerger merger(adapter, kPrefixes, merged);
  WeightsParser parser(merger);
  const Status status = parser.Feed(Bytes(base.File()));
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("lora_bias of a layer without a bias"), std::string::npos) << status.message();
}

TEST(LoraMergerTest, ShardsGetWhatIsTheirs) {
  SafetensorsWriter file;
  file.Add("base_model.model.classifier.weight", {1, 2}, std::vector<float>{4, 5});
  file.Add("base_model.model.other.modules_to_save.default.bias", {1}, std::vector<float>{6});
  LoraAdapter adapter;
  ASSERT_TRUE(Read(adapter, kConfig, file.File()).ok());
  SafetensorsWriter first;
  first.Add("bert.a.weight", {1}, std::vector<float>{1});
  SafetensorsWriter second;
  second.Add("other.bias", {1}, std::vector<float>{2});
  TensorRecorder merged;
  LoraMerger merger(adapter, kPrefixes, merged);
  const auto names = merger.SetNames({"bert.a.weight", "other.bias"});
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, (std::vector<std::string>{"bert.a.weight", "other.bias", "classifier.weight"}));
  WeightsParser one(merger);
  ASSERT_TRUE(one.Feed(Bytes(first.File())).ok());
  ASSERT_EQ(merged.tensors.size(), 2u);
  EXPECT_EQ(merged.tensors[1].name, "classifier.weight");
  EXPECT_EQ(merged.bytes[1], FloatBytes(std::vector<float>{4, 5}));
  WeightsParser two(merger);
  ASSERT_TRUE(two.Feed(Bytes(second.File())).ok());
  ASSERT_EQ(merged.tensors.size(), 1u);
  EXPECT_EQ(merged.bytes[0], FloatBytes(std::vector<float>{6}));
}

TEST(LoraMergerTest, WhatDoesNotFitIsNamed) {
  TensorRecorder merged;
  ExpectError(Merge(OneUpdate("base_model.model.encoder.layer.key"), Base(), merged), StatusCode::kMissingTensor,
              "encoder.layer.key.weight");
  ExpectError(Merge(OneUpdate(), Base("F32", {2, 3}), merged), StatusCode::kShapeMismatch, "[3, 2]; it is [2, 3]");
  SafetensorsWriter int8;
  int8.AddBytes("encoder.query.weight", {3, 2}, std::string(6, 1), "I8");
  ExpectError(Merge(OneUpdate(), int8.File(), merged), StatusCode::kUnsupported, "I8");
}

TEST(LoraAdapterTest, WhatIsNoPlainLoraIsRefusedByName) {
  LoraAdapter adapter;
  ExpectError(adapter.ReadConfig(R"({"peft_type":"IA3"})"), StatusCode::kUnsupported, "IA3");
  ExpectError(adapter.ReadConfig("{}"), StatusCode::kUnsupported, "(none)");
  ExpectError(adapter.ReadConfig(R"({"peft_type":"LORA"})"), StatusCode::kMalformedFile, "lora_alpha");
  for (const char* option : {"trainable_token_indices", "fan_in_fan_out"}) {
    ExpectError(adapter.ReadConfig(R"({"peft_type":"LORA","lora_alpha":1,")" + std::string(option) + R"(":true})"),
                StatusCode::kUnsupported, option);
    EXPECT_TRUE(
        adapter.ReadConfig(R"({"peft_type":"LORA","lora_alpha":1,")" + std::string(option) + R"(":false})").ok());
  }
  ExpectError(adapter.ReadConfig(R"({"peft_type":"LORA","lora_alpha":1,"init_lora_weights":"pissa"})"),
              StatusCode::kUnsupported, "pissa");
  ExpectError(adapter.ReadConfig(R"({"peft_type":"LORA","lora_alpha":1,"layer_replication":[[0,4]]})"),
              StatusCode::kUnsupported, "layer_replication");
  ExpectError(adapter.ReadConfig(R"({"peft_type":"LORA","lora_alpha":1,"alpha_pattern":{"\\1key":2}})"),
              StatusCode::kUnsupported, "alpha_pattern \"\\1key\"");
  ExpectError(adapter.ReadConfig(R"({"peft_type":"LORA","lora_alpha":1,"rank_pattern":{"key":"two"}})"),
              StatusCode::kMalformedFile, "rank_pattern");
}

TEST(LoraAdapterTest, BrokenAdapters) {
  const auto read = [](const std::vector<std::pair<std::string, std::vector<int64_t>>>& tensors,
                       const std::string& dtype = "F32") {
    SafetensorsWriter writer;
    for (const auto& [name, shape] : tensors) {
      int64_t elements = 1;
      for (const int64_t size : shape) elements *= size;
      writer.AddBytes(name, shape, std::string(static_cast<size_t>(4 * elements), '\0'), dtype);
    }
    LoraAdapter adapter;
    return Read(adapter, kConfig, writer.File());
  };
  ExpectError(read({}), StatusCode::kMalformedFile, "no tensors");
  ExpectError(read({{"a.lora_A.weight", {1, 2}}}), StatusCode::kMissingTensor, "one factor for a");
  ExpectError(read({{"a.lora_A.weight", {1, 2}}, {"a.lora_B.weight", {2, 2}}}), StatusCode::kShapeMismatch,
              "[1, 2] and [2, 2]");
  ExpectError(read({{"a.lora_A.weight", {0, 2}}, {"a.lora_B.weight", {2, 0}}}), StatusCode::kShapeMismatch,
              "factors for a");
  ExpectError(read({{"a.lora_A.weight", {1, 2, 1}}, {"a.lora_B.weight", {2, 1}}}), StatusCode::kUnsupported,
              "a.lora_A.weight");
  ExpectError(read({{"a.lora_magnitude_vector.weight", {1, 2}}}), StatusCode::kUnsupported, "magnitude");
  ExpectError(read({{"a.lora_B.bias", {1, 2}}}), StatusCode::kUnsupported, "lora_B.bias");
  ExpectError(read({{"a.lora_A.weight", {1, 2}}}, "I32"), StatusCode::kUnsupported, "I32");
  ExpectError(read({{"a.lora_A.weight", {2, 2}}, {"a.lora_B.weight", {2, 2}}}), StatusCode::kShapeMismatch,
              "have the rank 2, and adapter_config.json says 1");
  ExpectError(read({{"a.lora_A.weight", {1, 2}}, {"a.lora_A.default.weight", {1, 2}}, {"a.lora_B.weight", {2, 1}}}),
              StatusCode::kMalformedFile, "twice");
  ExpectError(read({{"a.weight", {1, 2}}, {"base_model.model.a.weight", {1, 2}}}), StatusCode::kMalformedFile, "twice");
}

TEST(LoraAdapterTest, DoraAndBiasesHaveAllTheirTensors) {
  const auto read = [](const std::string& option,
                       const std::vector<std::pair<std::string, std::vector<int64_t>>>& more) {
    SafetensorsWriter writer;
    writer.Add("a.lora_A.weight", {1, 2}, std::vector<float>{1, 2});
    writer.Add("a.lora_B.weight", {3, 1}, std::vector<float>{1, 2, 3});
    for (const auto& [name, shape] : more)
      writer.AddBytes(name, shape, std::string(static_cast<size_t>(4 * shape[0]), '\0'), "F32");
    LoraAdapter adapter;
    return Read(adapter, R"({"peft_type":"LORA","lora_alpha":2,"r":1,")" + option + R"(":true})", writer.File());
  };
  ExpectError(read("use_dora", {}), StatusCode::kMissingTensor, "lora_magnitude_vector for a");
  ExpectError(read("use_dora", {{"a.lora_magnitude_vector", {2}}}), StatusCode::kShapeMismatch, "2 numbers");
  EXPECT_TRUE(read("use_dora", {{"a.lora_magnitude_vector.default.weight", {3}}}).ok());
  ExpectError(read("lora_bias", {}), StatusCode::kMissingTensor, "lora_B.bias for a");
  EXPECT_TRUE(read("lora_bias", {{"a.lora_B.bias", {3}}}).ok());
}

// Time is proportional to the number of modules, and the message names a few of them.
TEST(LoraMergerTest, ManyUnknownModules) {
  constexpr int kModules = 20000;
  SafetensorsWriter writer;
  for (int i = 0; i < kModules; ++i) {
    const std::string module = "base_model.model.m" + std::to_string(i);
    writer.Add(module + ".lora_A.weight", {1, 1}, std::vector<float>{1});
    writer.Add(module + ".lora_B.weight", {1, 1}, std::vector<float>{1});
  }
  TensorRecorder merged;
  const Status status = Merge(writer.File(), Base(), merged);
  ExpectError(status, StatusCode::kMissingTensor, "m0.weight, m1.weight, m10.weight and 19997 more");
}

}  // namespace
}  // namespace peruse::testing
