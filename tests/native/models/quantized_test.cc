// dtypes q8 and q4 for every tiny checkpoint: compares each backend with the reference backend, and files with quantising at load.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/reference/reference_backend.h"
#include "core/base/half.h"
#include "core/formats/quantize.h"
#include "core/model/stored_format.h"
#include "core/weights/float_reader.h"
#include "core/weights/row_encoder.h"
#include "core/weights/weights_parser.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/models/quantizing_errors.h"
#include "tests/native/weights/safetensors_writer.h"
#include "tests/native/weights/tensor_recorder.h"

namespace peruse::testing {
namespace {

// Every layer of a tiny checkpoint is shallow, so its activations have 13 bits. Measured: at most 0.0006, and 0.046.
constexpr double kMeanSquare = 0.005;  // relative to the mean square of the quantisation error
constexpr double kWorst = 0.1;         // relative to the largest quantisation error

Result<std::shared_ptr<const LoadedModel>> Load(const GoldenCase& golden, const std::string& weights, Backend& backend,
                                                std::optional<Precision> precision) {
  ModelOptions options = golden.Options();
  options.precision = precision;
  return LoadWeights(golden.Config(), weights, options, backend, 997);
}

std::vector<std::vector<float>> Outputs(const std::shared_ptr<const LoadedModel>& loaded, const GoldenCase& golden) {
  const std::unique_ptr<Runner> runner = CreateRunner(loaded);
  Runner& model = *runner;
  const std::vector<GoldenText> texts = GoldenTexts(golden, golden.Expected());
  std::vector<ModelInput> inputs;
  for (const GoldenText& text : texts) inputs.push_back(text.input());
  std::vector<OutputId> ids = OutputsOf(model, OutputKind::kHidden);
  ids.push_back(model.head() == Head::kNone ? kLastHiddenState : kLogits);
  EXPECT_TRUE(model.Begin(inputs, {.outputs = ids}).ok());
  EXPECT_TRUE(model.Finish().ok());
  std::vector<std::vector<float>> outputs;
  for (const OutputId id : ids) outputs.push_back(ValuesOf(model, id));
  return outputs;
}

std::vector<GoldenCase> Cases() {
  std::vector<GoldenCase> cases = GoldenCases();
  const std::vector<BackendUnderTest> backends = BackendsUnderTest();
  std::erase_if(cases, [&](const GoldenCase& golden) {
    const bool run =
        std::all_of(backends.begin(), backends.end(), [&](const auto& one) { return one.Runs(golden.name); });
    return golden.name == "deberta-v1-talking-heads" || !run;
  });
  return cases;
}

class QuantizedTest : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(QuantizedTest, AgreesWithTheReference) {
  const GoldenCase& golden = GetParam();
  const auto reference = CreateReferenceBackend();
  auto expected_model = Load(golden, golden.Weights(), *reference, Precision::kQ8);
  ASSERT_TRUE(expected_model.ok()) << expected_model.status().message();
  const auto expected = Outputs(*expected_model, golden);
  auto exact_model = Load(golden, golden.Weights(), *reference, Precision::kF32);
  ASSERT_TRUE(exact_model.ok()) << exact_model.status().message();
  const auto exact = Outputs(*exact_model, golden);
  QuantizingErrors quantising;
  for (size_t i = 0; i < expected.size(); ++i) quantising.Add(expected[i], exact[i]);
  for (const BackendUnderTest& under_test : BackendsUnderTest()) {
    const auto backend = under_test.create();
    auto model = Load(golden, golden.Weights(), *backend, Precision::kQ8);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto actual = Outputs(*model, golden);
    QuantizingErrors errors;
    for (size_t i = 0; i < expected.size(); ++i) errors.Add(actual[i], expected[i]);
    EXPECT_LE(errors.worst, kWorst * quantising.worst) << under_test.name;
    EXPECT_LE(errors.squares, kMeanSquare * quantising.squares) << under_test.name;
  }
}

void ExpectSameBits(const std::vector<std::vector<float>>& actual, const std::vector<std::vector<float>>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].size(), expected[i].size());
    for (size_t k = 0; k < actual[i].size(); ++k) {
      ASSERT_EQ(std::bit_cast<uint32_t>(actual[i][k]), std::bit_cast<uint32_t>(expected[i][k])) << i << " " << k;
    }
  }
}

std::vector<float> Transposed(const std::vector<float>& matrices, size_t rows, size_t columns) {
  std::vector<float> result(matrices.size());
  for (size_t i = 0; i < matrices.size(); ++i) {
    const size_t first = i / (rows * columns) * rows * columns, row = (i - first) / columns, column = i % columns;
    result[first + column * rows + row] = matrices[i];
  }
  return result;
}

struct Checkpoint {
  explicit Checkpoint(const std::string& file) {
    uint64_t header_bytes = 0;
    for (size_t i = 0; i < 8; ++i) header_bytes |= uint64_t{static_cast<uint8_t>(file[i])} << (8 * i);
    const std::string body = file.substr(8 + static_cast<size_t>(header_bytes));
    const auto header = ParseSafetensorsHeader(file.substr(8, static_cast<size_t>(header_bytes)));
    for (const TensorInfo& t : *header) {
      tensors.push_back({t.name, t.dtype_name, t.shape, body.substr(t.begin, t.end - t.begin)});
    }
  }

  struct Tensor {
    std::string name;
    std::string dtype;
    std::vector<int64_t> shape;
    std::string bytes;
  };

  Tensor& Find(const std::string& name) {
    return *std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) { return t.name == name; });
  }

  void Quantize(const std::string& name, bool scales_first) {
    Tensor tensor = Find(name);
    std::vector<float> values(tensor.bytes.size() / static_cast<size_t>(DTypeSize(*ParseDType(tensor.dtype))));
    ConvertToFloat(*ParseDType(tensor.dtype), Bytes(tensor.bytes), values);
    std::vector<int64_t> scale_shape = {tensor.shape[0]};
    if (name.find(".experts.") != std::string::npos && tensor.shape.size() == 3) {  // [experts, in, columns]
      values = Transposed(values, static_cast<size_t>(tensor.shape[1]), static_cast<size_t>(tensor.shape[2]));
      std::swap(tensor.shape[1], tensor.shape[2]);
      scale_shape.push_back(tensor.shape[1]);
    } else if (name.ends_with("experts.mlp.w2")) {  // [experts * in, columns]
      const auto router = std::find_if(tensors.begin(), tensors.end(), [&](const Tensor& t) {
        return t.name.starts_with(name.substr(0, name.find("experts."))) && t.name.ends_with("router.layer.weight");
      });
      const int64_t experts = router->shape[0], columns = tensor.shape[1], in = tensor.shape[0] / experts;
      values = Transposed(values, static_cast<size_t>(in), static_cast<size_t>(columns));
      tensor.shape = {experts * columns, in};
      scale_shape = {experts, columns};
    }
    const auto rows = static_cast<size_t>(ElementCount(scale_shape));
    const size_t width = values.size() / rows;
    std::string integers(values.size(), '\0');
    std::vector<float> scales;
    for (size_t r = 0; r < rows; ++r) {
      scales.push_back(QuantizeRow(std::span<const float>(values).subspan(r * width, width), kWeightLevels,
                                   reinterpret_cast<int8_t*>(integers.data()) + r * width));
    }
    std::erase_if(tensors, [&](const Tensor& t) { return t.name == name; });
    tensors.push_back({name, "I8", tensor.shape, integers});
    const Tensor scale = {name + "_scale", "F32", scale_shape, FloatBytes(scales)};
    tensors.insert(scales_first ? tensors.begin() : tensors.end(), scale);
  }

  std::string File() const {
    SafetensorsWriter writer;
    for (const Tensor& t : tensors) writer.AddBytes(t.name, t.shape, t.bytes, t.dtype);
    return writer.File();
  }

  std::vector<Tensor> tensors;
};

// Whether q8 stores the tensor as int8.
bool IsQuantizable(const std::string& name, const std::vector<int64_t>& shape) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (name.ends_with("experts.mlp.w1") || name.ends_with("experts.mlp.w2")) return true;
  if (has(".experts.") && shape.size() == 3) return true;
  if (has("router.")) return false;
  if (!name.ends_with(".weight") && !name.ends_with(".parametrizations.weight.original")) return false;
  if (shape.size() != 2 && !(name.ends_with(".pointwise.weight") && shape[2] == 1)) return false;
  if (has("word_embeddings") || has("embeddings_project") || has("embed_proj")) return true;
  if (has("generator_lm_head") || has("lm_head.decoder") || has("vocab_projector")) {
    return true;
  }
  if (has("embedding_hidden_mapping_in") || has("predictions.decoder")) return true;  // ALBERT's
  if (has("tok_embeddings") || name == "decoder.weight") return true;                 // ModernBERT's
  if (has("embed_tokens") || name == "lm_head.weight") return true;                   // Llama's
  if (!has("encoder.layer.") && !has("transformer.layer.") && !has("layers.")) return false;
  return !has(".pos_") && !has("distance_embedding") && !name.ends_with(".conv.weight");
}

// Writes the golden's weights in a precision.
void EncodeAs(const GoldenCase& golden, Precision precision, TensorRecorder& recorder) {
  const auto stored = StoredFormat::Create(golden.Config(), precision);
  ASSERT_TRUE(stored.ok()) << stored.status().message();
  RowEncoder encoder([&](std::span<const TensorInfo> tensors) { return stored->Choose(tensors); }, recorder);
  WeightsParser parser(encoder);
  EXPECT_TRUE(parser.Feed(Bytes(golden.Weights())).ok());
  EXPECT_TRUE(parser.Finish().ok());
}

std::vector<std::string> EncodedBy(const GoldenCase& golden) {
  TensorRecorder recorder;
  EncodeAs(golden, Precision::kQ8, recorder);
  std::vector<std::string> names;
  for (const TensorInfo& tensor : recorder.tensors) {
    if (tensor.dtype == DType::kI8) names.push_back(tensor.name);
  }
  return names;
}

TEST_P(QuantizedTest, ACheckpointOnDiskGivesTheSameBits) {
  const GoldenCase& golden = GetParam();
  Checkpoint checkpoint(golden.Weights());
  std::vector<std::string> names;
  for (const Checkpoint::Tensor& t : checkpoint.tensors) {
    if (IsQuantizable(t.name, t.shape)) names.push_back(t.name);
  }
  ASSERT_GE(names.size(), 7u);  // token embeddings, and six linear layers
  EXPECT_EQ(EncodedBy(golden), names);
  for (size_t i = 0; i < names.size(); ++i) checkpoint.Quantize(names[i], i % 2 == 0);
  for (const BackendUnderTest& under_test : BackendsUnderTest()) {
    const auto backend = under_test.create();
    auto from_floats = Load(golden, golden.Weights(), *backend, Precision::kQ8);
    auto from_int8 = Load(golden, checkpoint.File(), *backend, Precision::kQ8);
    ASSERT_TRUE(from_floats.ok()) << from_floats.status().message();
    ASSERT_TRUE(from_int8.ok()) << from_int8.status().message();
    EXPECT_EQ((*from_int8)->report.weight_bytes, (*from_floats)->report.weight_bytes);
    EXPECT_EQ((*from_int8)->report.extra_tensors, (*from_floats)->report.extra_tensors);
    ExpectSameBits(Outputs(*from_int8, golden), Outputs(*from_floats, golden));
  }
}

TEST_P(QuantizedTest, WordsOfFourBitsOnDiskGiveTheSameBits) {
  const GoldenCase& golden = GetParam();
  TensorRecorder recorder;
  EncodeAs(golden, Precision::kQ4, recorder);
  std::string words;
  for (const bool scales_first : {false, true}) {
    SafetensorsWriter writer;
    for (size_t n = 0; n < recorder.tensors.size(); ++n) {
      const size_t i = scales_first ? recorder.tensors.size() - 1 - n : n;
      const TensorInfo& tensor = recorder.tensors[i];
      if (tensor.dtype == DType::kU8) words = tensor.name;
      writer.AddBytes(tensor.name, tensor.shape, recorder.bytes[i], tensor.dtype_name);
    }
    ASSERT_NE(words, "");
    for (const BackendUnderTest& under_test : BackendsUnderTest()) {
      const auto backend = under_test.create();
      auto from_floats = Load(golden, golden.Weights(), *backend, Precision::kQ4);
      auto from_int4 = Load(golden, writer.File(), *backend, Precision::kQ4);
      ASSERT_TRUE(from_floats.ok()) << from_floats.status().message();
      ASSERT_TRUE(from_int4.ok()) << from_int4.status().message();
      EXPECT_EQ((*from_int4)->report.weight_bytes, (*from_floats)->report.weight_bytes);
      auto int8 = Load(golden, golden.Weights(), *backend, Precision::kQ8);
      EXPECT_LT((*from_int4)->report.weight_bytes, (*int8)->report.weight_bytes);
      ExpectSameBits(Outputs(*from_int4, golden), Outputs(*from_floats, golden));
    }
  }
}

// Replaces the token embeddings of `words` by what a decoder of files in double precision reads.
void DecodeWords(Checkpoint& checkpoint, const TensorRecorder& recorder, const std::string& words) {
  const auto find = [&](const std::string& name) {
    const auto found = std::find_if(recorder.tensors.begin(), recorder.tensors.end(),
                                    [&](const TensorInfo& t) { return t.name == name; });
    return static_cast<size_t>(found - recorder.tensors.begin());
  };
  const std::string payload(recorder.bytes[find(words)].begin(), recorder.bytes[find(words)].end());
  const std::string scales(recorder.bytes[find(words + "_scale")].begin(),
                           recorder.bytes[find(words + "_scale")].end());
  Checkpoint::Tensor& tensor = checkpoint.Find(words);
  const int64_t width = tensor.shape[1], groups = (width + 31) / 32;
  std::vector<float> values;
  for (int64_t row = 0; row < tensor.shape[0]; ++row) {
    for (int64_t k = 0; k < width; ++k) {
      const auto group = static_cast<size_t>(row * groups + k / 32);
      const auto byte = static_cast<uint8_t>(payload[group * 16 + static_cast<size_t>(k % 32) / 2]);
      const int q = k % 2 == 0 ? byte % 16 : byte / 16;
      const int half = static_cast<uint8_t>(scales[2 * group]) + 256 * static_cast<uint8_t>(scales[2 * group + 1]);
      values.push_back(static_cast<float>((q - 8) * static_cast<double>(HalfToFloat(static_cast<uint16_t>(half)))));
    }
  }
  tensor.dtype = "F32";
  tensor.bytes = FloatBytes(values);
}

TEST(QuantizedCheckpointTest, WordsOfFourBitsAreThoseOfANaiveDecoder) {
  int32_t cases = 0;
  for (const GoldenCase& golden : GoldenCases()) {
    if (!golden.name.starts_with("bert-") && golden.name != "deberta-v2-question") continue;
    ++cases;
    TensorRecorder recorder;
    EncodeAs(golden, Precision::kQ4, recorder);
    Checkpoint decoded(golden.Weights());
    for (const TensorInfo& tensor : recorder.tensors) {
      if (tensor.dtype == DType::kU8) DecodeWords(decoded, recorder, tensor.name);
    }
    for (const BackendUnderTest& under_test : BackendsUnderTest()) {
      const auto backend = under_test.create();
      auto packed = Load(golden, golden.Weights(), *backend, Precision::kQ4);
      auto floats = Load(golden, decoded.File(), *backend, Precision::kF32);
      ASSERT_TRUE(packed.ok() && floats.ok()) << packed.status().message() << floats.status().message();
      // The first hidden state is what enters the first layer.
      ExpectSameBits({Outputs(*packed, golden)[0]}, {Outputs(*floats, golden)[0]});
    }
  }
  EXPECT_GE(cases, 2);
}

const GoldenCase kDeberta = {"deberta-v2-question", "DebertaV2ForQuestionAnswering", "of the class", 0};
const std::string kLinear = "deberta.encoder.layer.0.intermediate.dense.weight";

Status LoadStatus(const Checkpoint& checkpoint, std::optional<Precision> precision = Precision::kQ8) {
  const auto backend = CreateCpuBackend(1).value();
  return Load(kDeberta, checkpoint.File(), *backend, precision).status();
}

void ExpectStatus(const Status& status, StatusCode code, const std::string& part) {
  EXPECT_EQ(StatusCodeName(status.code()), StatusCodeName(code)) << status.message();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(QuantizedCheckpointTest, BadScalesAndValuesAreTypedErrors) {
  Checkpoint sound(kDeberta.Weights());
  sound.Quantize(kLinear, true);
  EXPECT_TRUE(LoadStatus(sound).ok());

  Checkpoint missing = sound;
  std::erase_if(missing.tensors, [](const auto& t) { return t.name == kLinear + "_scale"; });
  ExpectStatus(LoadStatus(missing), StatusCode::kMissingTensor, kLinear + "_scale [");

  Checkpoint misshapen = sound;
  misshapen.Find(kLinear + "_scale").shape.push_back(1);
  ExpectStatus(LoadStatus(misshapen), StatusCode::kShapeMismatch, kLinear + "_scale [");

  Checkpoint integers = sound;
  integers.Find(kLinear + "_scale").dtype = "I32";
  ExpectStatus(LoadStatus(integers), StatusCode::kUnsupported, kLinear + "_scale I32");

  Checkpoint asymmetric = sound;
  asymmetric.Find(kLinear).bytes[5] = '\x80';
  ExpectStatus(LoadStatus(asymmetric), StatusCode::kMalformedFile, "-128");

  Checkpoint norm(kDeberta.Weights());
  norm.Quantize("deberta.embeddings.LayerNorm.weight", false);
  ExpectStatus(LoadStatus(norm), StatusCode::kUnsupported, "int8");
}

TEST(QuantizedCheckpointTest, BadWordsOfFourBitsAreTypedErrors) {
  const std::string words = "deberta.embeddings.word_embeddings.weight";
  TensorRecorder recorder;
  EncodeAs(kDeberta, Precision::kQ4, recorder);
  SafetensorsWriter writer;
  for (size_t i = 0; i < recorder.tensors.size(); ++i) {
    writer.AddBytes(recorder.tensors[i].name, recorder.tensors[i].shape, recorder.bytes[i],
                    recorder.tensors[i].dtype_name);
  }
  const Checkpoint sound(writer.File());
  EXPECT_TRUE(LoadStatus(sound, Precision::kQ4).ok());
  for (const Precision other : {Precision::kF32, Precision::kF16, Precision::kQ8}) {
    ExpectStatus(LoadStatus(sound, other), StatusCode::kUnsupported, "which only dtype q4 reads for words");
  }

  Checkpoint missing = sound;
  std::erase_if(missing.tensors, [&](const auto& t) { return t.name == words + "_scale"; });
  ExpectStatus(LoadStatus(missing, Precision::kQ4), StatusCode::kMissingTensor, words + "_scale [");

  Checkpoint misshapen = sound;
  misshapen.Find(words).shape[1] *= 2;
  misshapen.Find(words).shape[0] /= 2;
  ExpectStatus(LoadStatus(misshapen, Precision::kQ4), StatusCode::kShapeMismatch, words);

  Checkpoint transposed = sound;
  std::swap(transposed.Find(words + "_scale").shape[0], transposed.Find(words + "_scale").shape[1]);
  ExpectStatus(LoadStatus(transposed, Precision::kQ4), StatusCode::kShapeMismatch, words + "_scale [");

  Checkpoint wide = sound;
  wide.Find(words + "_scale").dtype = "BF16";
  ExpectStatus(LoadStatus(wide, Precision::kQ4), StatusCode::kUnsupported, words + "_scale BF16");

  Checkpoint infinite = sound;
  infinite.Find(words + "_scale").bytes[0] = '\0';
  infinite.Find(words + "_scale").bytes[1] = '\x7c';
  ExpectStatus(LoadStatus(infinite, Precision::kQ4), StatusCode::kMalformedFile, words + "_scale");
}

TEST(QuantizedCheckpointTest, OnlyQ8ReadsInt8AndTheConfigurationSaysSo) {
  Checkpoint checkpoint(kDeberta.Weights());
  checkpoint.Quantize(kLinear, false);
  ExpectStatus(LoadStatus(checkpoint, Precision::kF32), StatusCode::kUnsupported, "dtype q8");
  ExpectStatus(LoadStatus(checkpoint, Precision::kF16), StatusCode::kUnsupported, kLinear);
  ExpectStatus(LoadStatus(checkpoint, std::nullopt), StatusCode::kUnsupported, "dtype q8");

  std::string config = kDeberta.Config();
  config.insert(config.find('{') + 1, R"("quantization_config": {"quant_method": "peruse-q8"}, )");
  const auto backend = CreateCpuBackend(1).value();
  const auto model = LoadWeights(config, checkpoint.File(), kDeberta.Options(), *backend);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ((*model)->report.precision, Precision::kQ8);
}

INSTANTIATE_TEST_SUITE_P(Tiny, QuantizedTest, ::testing::ValuesIn(Cases()),
                         [](const ::testing::TestParamInfo<GoldenCase>& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace peruse::testing
