// dtype q4 with layers wide enough for 4 bits: from floats and from files of 4 bits, on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/backend/reference/reference_backend.h"
#include "core/families/add_head.h"
#include "core/families/family.h"
#include "core/formats/weight_format.h"
#include "core/model/stored_format.h"
#include "core/weights/float_reader.h"
#include "core/weights/row_encoder.h"
#include "core/weights/weights_parser.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/random.h"
#include "tests/native/weights/safetensors_writer.h"
#include "tests/native/weights/tensor_recorder.h"

namespace peruse::testing {
namespace {

// The feed-forward is wide, but no layer has both as many inputs and as many outputs as 4 bits need.
constexpr const char* kNarrow =
    R"({"model_type":"bert","vocab_size":40,"max_position_embeddings":20,"hidden_size":48,"num_hidden_layers":2,)"
    R"("num_attention_heads":2,"intermediate_size":1040,"hidden_act":"gelu","type_vocab_size":2,"layer_norm_eps":1e-12})";
// A width that is no multiple of a group. The feed-forward is narrow.
constexpr const char* kWide =
    R"({"model_type":"bert","vocab_size":40,"max_position_embeddings":20,"hidden_size":1040,"num_hidden_layers":1,)"
    R"("num_attention_heads":4,"intermediate_size":64,"hidden_act":"gelu","type_vocab_size":2,"layer_norm_eps":1e-12})";

constexpr const char* kExperts =
    R"({"model_type":"openai_privacy_filter","vocab_size":40,"hidden_size":64,"intermediate_size":128,"num_hidden_layers":1,)"
    R"("num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"num_local_experts":6,"num_experts_per_tok":2,)"
    R"("sliding_window":4,"max_position_embeddings":64,"rms_norm_eps":1e-5,"pad_token_id":1,"id2label":{"0":"O","1":"B-x"},)"
    R"("rope_parameters":{"rope_type":"default","rope_theta":10000}})";

// Only the second matrices of the experts have enough inputs for 4 bits.
constexpr const char* kTwoMatrices =
    R"({"model_type":"nomic_bert","vocab_size":40,"n_positions":20,"n_embd":64,"n_layer":2,"n_head":4,"n_inner":1024,)"
    R"("type_vocab_size":2,"activation_function":"gelu","rotary_emb_fraction":1.0,"rotary_emb_base":10000,)"
    R"("layer_norm_epsilon":1e-5,"prenorm":false,"moe_every_n_layers":2,"num_experts":16,"moe_top_k":2})";

std::string DrawWeights(const std::string& config_json) {
  Random random(5);
  const ConfiguredFamily configured = ReadFamily(config_json).value();
  SafetensorsWriter writer;
  std::set<std::string> written;
  for (const Parameters& parameters : ParametersOfHeads(*configured.family, configured.config, Precision::kF32)) {
    for (const ParameterTensor& tensor : parameters.tensors) {
      if (!written.insert(tensor.names[0]).second) continue;
      const int64_t count = ElementCount(tensor.shape);
      const bool is_norm = tensor.names[0].ends_with("Norm.weight");
      const float scale = 1.7f / std::sqrt(static_cast<float>(count / tensor.shape[0]));
      std::vector<float> values(static_cast<size_t>(count));
      for (float& value : values) value = is_norm ? 1 + 0.2f * random.Float() : std::min(scale, 1.0f) * random.Float();
      writer.Add(tensor.names[0], tensor.shape, values);
    }
  }
  return writer.File();
}

void Encode(const RowEncoder::Choose& choose, const std::string& weights, TensorRecorder& recorder) {
  RowEncoder encoder(choose, recorder);
  WeightsParser parser(encoder);
  ASSERT_TRUE(parser.Feed({reinterpret_cast<const uint8_t*>(weights.data()), weights.size()}).ok());
  ASSERT_TRUE(parser.Finish().ok());
}

void EncodeAs(const std::string& config, const std::string& weights, Precision precision, TensorRecorder& recorder) {
  const auto stored = StoredFormat::Create(config, precision);
  ASSERT_TRUE(stored.ok()) << stored.status().message();
  Encode([&](std::span<const TensorInfo> tensors) { return stored->Choose(tensors); }, weights, recorder);
}

// Encodes only linear layers: in 8 bits if the name contains `eight`, others in 4, as ONNX files do at any width.
void EncodeLayers(const std::string& weights, std::string_view eight, TensorRecorder& recorder) {
  const auto choose = [&](std::span<const TensorInfo> tensors) -> Result<std::vector<StoredRows>> {
    std::vector<StoredRows> formats;
    for (const TensorInfo& tensor : tensors) {
      const bool is_layer = tensor.name.starts_with("encoder.layer.") && tensor.shape.size() == 2;
      const bool has_eight = !eight.empty() && tensor.name.find(eight) != std::string::npos;
      formats.push_back({!is_layer ? nullptr : has_eight ? &Int8Format() : &Int4Format()});
    }
    return formats;
  };
  Encode(choose, weights, recorder);
}

// The file with each tensor of integers as the floats that they stand for.
std::string FloatFileOf(const TensorRecorder& recorder) {
  SafetensorsWriter writer;
  for (size_t i = 0; i < recorder.tensors.size(); ++i) {
    const TensorInfo& tensor = recorder.tensors[i];
    if (tensor.name.ends_with("_scale")) continue;
    if (tensor.dtype != DType::kU8) {
      writer.AddBytes(tensor.name, tensor.shape, recorder.bytes[i], tensor.dtype_name);
      continue;
    }
    const std::string& halves = recorder.bytes[i + 1];
    std::vector<float> scales(halves.size() / 2), values(recorder.bytes[i].size() * 2);
    ConvertToFloat(DType::kF16, {reinterpret_cast<const uint8_t*>(halves.data()), halves.size()}, scales);
    const auto payload =
        std::span(reinterpret_cast<const uint8_t*>(recorder.bytes[i].data()), recorder.bytes[i].size());
    const auto rows = static_cast<size_t>(tensor.shape[0]), width = values.size() / rows;
    for (size_t r = 0; r < rows; ++r) {
      Int4Format().DecodeRow({payload, scales}, r, false, std::span(values).subspan(r * width, width));
    }
    writer.Add(tensor.name, {tensor.shape[0], static_cast<int64_t>(width)}, values);
  }
  return writer.File();
}

std::string FileOf(const TensorRecorder& recorder, bool reversed) {
  SafetensorsWriter writer;
  for (size_t n = 0; n < recorder.tensors.size(); ++n) {
    const size_t i = reversed ? recorder.tensors.size() - 1 - n : n;
    writer.AddBytes(recorder.tensors[i].name, recorder.tensors[i].shape, recorder.bytes[i],
                    recorder.tensors[i].dtype_name);
  }
  return writer.File();
}

struct Computed {
  int64_t bytes = 0;
  std::vector<float> values;
};

Computed RunModel(const std::string& config, const std::string& weights, Head head, Backend& backend,
                  Precision precision) {
  ModelOptions options;
  options.head = head;
  options.precision = precision;
  const auto model = LoadWeights(config, weights, options, backend, 997);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  const std::unique_ptr<Runner> runner = CreateRunner(*model);
  const std::vector<int32_t> ids = {3, 9, 14, 27, 39, 1, 1}, types(7, 0);
  const std::vector<ModelInput> inputs = {{ids, types}};
  const OutputId output = head == Head::kNone ? kLastHiddenState : kLogits;
  EXPECT_TRUE(runner->Begin(inputs, {.outputs = std::vector{output}}).ok());
  EXPECT_TRUE(runner->Finish().ok());
  return {(*model)->report.weight_bytes, ValuesOf(*runner, output)};
}

std::vector<std::string> NamesOf(const TensorRecorder& recorder, DType type) {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : recorder.tensors) {
    if (tensor.dtype == type) names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

double MeanSquare(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * double{a[i] - b[i]} / static_cast<double>(a.size());
  return sum;
}

TEST(FourBitsTest, OnlyWideLayersAndTokenEmbeddingsAreStoredIn4Bits) {
  const std::string words = "embeddings.word_embeddings.weight", layer = "encoder.layer.0.";
  TensorRecorder narrow, wide;
  EncodeAs(kNarrow, DrawWeights(kNarrow), Precision::kQ4, narrow);
  EXPECT_EQ(NamesOf(narrow, DType::kU8), std::vector<std::string>{words});
  EXPECT_EQ(NamesOf(narrow, DType::kI8).size(), 2u * 6u);
  EncodeAs(kWide, DrawWeights(kWide), Precision::kQ4, wide);
  const std::vector<std::string> eight = {layer + "intermediate.dense.weight", layer + "output.dense.weight"};
  EXPECT_EQ(NamesOf(wide, DType::kI8), eight);
  const std::vector<std::string> four = {words, layer + "attention.output.dense.weight",
                                         layer + "attention.self.key.weight", layer + "attention.self.query.weight",
                                         layer + "attention.self.value.weight"};
  EXPECT_EQ(NamesOf(wide, DType::kU8), four);
}

void ExpectFilesLikeFloats(const char* config, Precision precision, Head head, const BackendUnderTest& under_test) {
  const std::string weights = DrawWeights(config);
  TensorRecorder recorder;
  EncodeAs(config, weights, precision, recorder);
  const auto backend = under_test.create();
  const Computed floats = RunModel(config, weights, head, *backend, precision);
  for (const bool reversed : {false, true}) {
    const Computed file = RunModel(config, FileOf(recorder, reversed), head, *backend, precision);
    EXPECT_EQ(file.values, floats.values) << under_test.name << " " << config << " " << reversed;
    EXPECT_EQ(file.bytes, floats.bytes);
  }
}

TEST(FourBitsTest, FilesGiveTheBitsOfFloats) {
  for (const char* config : {kNarrow, kWide}) {
    for (const Head head : {Head::kNone, Head::kMaskedLm}) {
      for (const BackendUnderTest& under_test : BackendsUnderTest()) {
        ExpectFilesLikeFloats(config, Precision::kQ4, head, under_test);
      }
    }
  }
}

TEST(FourBitsTest, FilesWithExpertsGiveTheBitsOfFloats) {
  for (const Precision precision : {Precision::kQ4, Precision::kQ8}) {
    for (const BackendUnderTest& under_test : BackendsUnderTest()) {
      if (!under_test.mixes_experts) continue;
      for (const char* config : {kExperts, kTwoMatrices}) {
        ExpectFilesLikeFloats(config, precision, Head::kNone, under_test);
      }
    }
  }
}

TEST(FourBitsTest, ExpertsAreStoredByRows) {
  const std::string experts = "model.layers.0.mlp.experts.";
  for (const Precision precision : {Precision::kQ4, Precision::kQ8}) {
    const bool four = precision == Precision::kQ4;
    TensorRecorder recorder;
    EncodeAs(kExperts, DrawWeights(kExperts), precision, recorder);
    std::map<std::string, const TensorInfo*> tensors;
    for (const TensorInfo& tensor : recorder.tensors) tensors[tensor.name] = &tensor;
    using Shape = std::vector<int64_t>;
    const auto shape_of = [&](const std::string& name) {
      for (const auto& [whole, tensor] : tensors) {
        if (("model." + whole).ends_with(experts + name)) return tensor->shape;
      }
      return Shape();
    };
    EXPECT_EQ(shape_of("gate_up_proj"), (Shape{6, 256, four ? 32 : 64}));
    EXPECT_EQ(shape_of("gate_up_proj_scale"), (four ? Shape{6, 256, 2} : Shape{6, 256}));
    EXPECT_EQ(shape_of("down_proj"), (Shape{6, 64, four ? 64 : 128}));
    EXPECT_EQ(shape_of("down_proj_scale"), (four ? Shape{6, 64, 4} : Shape{6, 64}));
  }
}

TEST(FourBitsTest, MatricesOfExpertsInOneAreStoredByRows) {
  const std::string name = "encoder.layers.1.mlp.experts.mlp.w2";
  for (const Precision precision : {Precision::kQ4, Precision::kQ8}) {
    const bool four = precision == Precision::kQ4;
    TensorRecorder recorder;
    EncodeAs(kTwoMatrices, DrawWeights(kTwoMatrices), precision, recorder);
    std::map<std::string, std::vector<int64_t>> shapes;
    for (const TensorInfo& tensor : recorder.tensors) shapes[tensor.name] = tensor.shape;
    using Shape = std::vector<int64_t>;
    EXPECT_EQ(shapes[name], (Shape{16 * 64, four ? 512 : 1024}));
    EXPECT_EQ(shapes[name + "_scale"], (four ? Shape{16, 64, 32} : Shape{16, 64}));
  }
}

// quantized_test.cc has models without layers of 4 bits.
TEST(FourBitsTest, BackendsAgreeWithTheReference) {
  for (const char* config : {kWide, kExperts}) {
    const std::string weights = DrawWeights(config);
    const auto reference = CreateReferenceBackend();
    const std::vector<float> exact = RunModel(config, weights, Head::kNone, *reference, Precision::kF32).values;
    const std::vector<float> expected = RunModel(config, weights, Head::kNone, *reference, Precision::kQ4).values;
    const double rounding = MeanSquare(expected, exact);
    EXPECT_GT(rounding, 0);
    for (const BackendUnderTest& under_test : BackendsUnderTest()) {
      const auto backend = under_test.create();
      if (config == kExperts && !under_test.mixes_experts) continue;
      const Computed run = RunModel(config, weights, Head::kNone, *backend, Precision::kQ4);
      EXPECT_LE(MeanSquare(run.values, expected), 0.005 * rounding) << under_test.name << " " << config;
      if (backend->LinearPrecision(Precision::kQ4) != Precision::kQ4 || under_test.name == "reference") continue;
      EXPECT_LT(run.bytes, RunModel(config, weights, Head::kNone, *backend, Precision::kQ8).bytes);
    }
  }
}

// Widths of whole groups, as in ONNX files whose float weights can be compared.
constexpr const char* kGroups =
    R"({"model_type":"bert","vocab_size":40,"max_position_embeddings":20,"hidden_size":64,"num_hidden_layers":2,)"
    R"("num_attention_heads":2,"intermediate_size":256,"hidden_act":"gelu","type_vocab_size":2,"layer_norm_eps":1e-12})";

TEST(FourBitsTest, NarrowLayersHaveTheIntegersOfTheFile) {
  TensorRecorder recorder;
  EncodeLayers(DrawWeights(kGroups), "", recorder);
  EXPECT_EQ(NamesOf(recorder, DType::kU8).size(), 2u * 6u);
  const std::string floats = FloatFileOf(recorder);
  const auto reference = CreateReferenceBackend();
  const std::vector<float> exact = RunModel(kGroups, floats, Head::kNone, *reference, Precision::kF32).values;
  const std::vector<float> expected =
      RunModel(kGroups, FileOf(recorder, false), Head::kNone, *reference, Precision::kQ8).values;
  const double rounding = MeanSquare(expected, exact);
  EXPECT_GT(rounding, 0);
  const double of_eight = MeanSquare(RunModel(kGroups, floats, Head::kNone, *reference, Precision::kQ8).values, exact);
  EXPECT_LE(rounding, 1.5 * of_eight) << "more than 8 bits for the same values cost";
  for (const BackendUnderTest& under_test : BackendsUnderTest()) {
    const auto backend = under_test.create();
    for (const bool reversed : {false, true}) {
      const Computed run = RunModel(kGroups, FileOf(recorder, reversed), Head::kNone, *backend, Precision::kQ8);
      EXPECT_LE(MeanSquare(run.values, expected), 0.005 * rounding) << under_test.name;
      if (backend->LinearPrecision(Precision::kQ4) != Precision::kQ4 || under_test.name == "reference") continue;
      const Computed eight = RunModel(kGroups, floats, Head::kNone, *backend, Precision::kQ8);
      const int64_t weights = 2 * (4 * 64 * 64 + 2 * 64 * 256);
      EXPECT_LT(run.bytes, eight.bytes - weights * 2 / 5) << "4.5 bits instead of 8 for each weight";
    }
  }
}

// Query, key and value are one layer.
TEST(FourBitsTest, LayersThatAFileHasIn8BitsKeepThem) {
  for (const char* eight : {"attention.output", "self.key"}) {
    TensorRecorder mixed, four;
    const std::string weights = DrawWeights(kGroups);
    EncodeLayers(weights, eight, mixed);
    EncodeLayers(weights, "", four);
    const auto reference = CreateReferenceBackend();
    const Computed expected = RunModel(kGroups, FileOf(mixed, false), Head::kNone, *reference, Precision::kQ8);
    for (const BackendUnderTest& under_test : BackendsUnderTest()) {
      const auto backend = under_test.create();
      const Computed run = RunModel(kGroups, FileOf(mixed, false), Head::kNone, *backend, Precision::kQ8);
      const Computed all = RunModel(kGroups, FileOf(four, false), Head::kNone, *backend, Precision::kQ8);
      EXPECT_LE(MeanSquare(run.values, expected.values), 0.005 * MeanSquare(all.values, expected.values)) << eight;
      if (backend->LinearPrecision(Precision::kQ4) != Precision::kQ4 || under_test.name == "reference") continue;
      EXPECT_GT(run.bytes, all.bytes);
    }
  }
}

TEST(FourBitsTest, WideLayersThatAQ4FileHasIn8BitsKeepThem) {
  const std::string weights = DrawWeights(kWide);
  const auto stored = StoredFormat::Create(kWide, Precision::kQ4);
  ASSERT_TRUE(stored.ok());
  TensorRecorder mixed, four;
  EncodeAs(kWide, weights, Precision::kQ4, four);
  const auto choose = [&](std::span<const TensorInfo> tensors) -> Result<std::vector<StoredRows>> {
    PERUSE_ASSIGN_OR_RETURN(std::vector<StoredRows> formats, stored->Choose(tensors));
    for (size_t i = 0; i < formats.size(); ++i) {
      if (tensors[i].name.find("self.value.weight") != std::string::npos) formats[i].format = &Int8Format();
    }
    return formats;
  };
  Encode(choose, weights, mixed);
  const auto reference = CreateReferenceBackend();
  const std::vector<float> exact = RunModel(kWide, weights, Head::kNone, *reference, Precision::kF32).values;
  for (const BackendUnderTest& under_test : BackendsUnderTest()) {
    const auto backend = under_test.create();
    const Computed run = RunModel(kWide, FileOf(mixed, false), Head::kNone, *backend, Precision::kQ4);
    const Computed all = RunModel(kWide, FileOf(four, false), Head::kNone, *backend, Precision::kQ4);
    ASSERT_FALSE(run.values.empty()) << under_test.name;
    EXPECT_LT(MeanSquare(run.values, exact), MeanSquare(all.values, exact)) << under_test.name;
  }
}

TEST(FourBitsTest, ExpertsHave4BitsAtAnyWidth) {
  const ConfiguredFamily configured = ReadFamily(kExperts).value();
  size_t experts = 0;
  const auto heads = ParametersOfHeads(*configured.family, configured.config, Precision::kQ4);
  for (const LinearSpec& spec : heads[0].linears) {
    experts += spec.experts ? 1 : 0;
    if (spec.precision != Precision::kF32) EXPECT_EQ(spec.precision, spec.experts ? Precision::kQ4 : Precision::kQ8);
  }
  EXPECT_EQ(experts, 3u);  // gate, up and down of one layer
}

}  // namespace
}  // namespace peruse::testing
