#include "core/weights/row_encoder.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "core/formats/quantize.h"
#include "core/model/stored_format.h"
#include "core/weights/weights_parser.h"
#include "tests/native/weights/safetensors_writer.h"
#include "tests/native/weights/tensor_recorder.h"

namespace peruse::testing {
namespace {

const std::vector<float> kValues = {0.5f, -2, 1, 0, 0, 0, 3, -3, 0.25f};

std::string File(const std::vector<float>& values, const std::string& dtype = "F32") {
  SafetensorsWriter writer;
  writer.Add("norm", {3}, std::vector<float>{1, 2, 3});
  writer.Add("linear", {3, 3}, values, dtype);
  writer.Add("bias", {3}, std::vector<float>{4, 5, 6});
  return writer.File();
}

std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Status Encode(const std::string& file, TensorRecorder& recorder, size_t chunk = 1 << 20) {
  RowEncoder encoder(
      [](std::span<const TensorInfo> tensors) {
        std::vector<StoredRows> stored;
        for (const TensorInfo& tensor : tensors) {
          stored.push_back({.format = tensor.name == "linear" ? &Int8Format() : nullptr});
        }
        return stored;
      },
      recorder);
  WeightsParser parser(encoder);
  for (size_t at = 0; at < file.size(); at += chunk) {
    if (Status status = parser.Feed(AsBytes(std::string_view(file).substr(at, chunk))); !status.ok()) return status;
  }
  EXPECT_EQ(encoder.encoded(), 1);
  EXPECT_EQ(encoder.source_bytes(), 15 * sizeof(float));
  return parser.Finish();
}

TEST(RowEncoderTest, ARowBecomesIntegersAndAScaleHoweverItsBytesArrive) {
  const std::string file = File(kValues);
  for (const size_t chunk : {size_t{1}, size_t{3}, size_t{7}, size_t{1000}}) {
    TensorRecorder recorder;
    ASSERT_TRUE(Encode(file, recorder, chunk).ok());
    ASSERT_EQ(recorder.tensors.size(), 4u);
    EXPECT_EQ(recorder.tensors[1].dtype_name, "I8");
    EXPECT_EQ(recorder.tensors[1].shape, (std::vector<int64_t>{3, 3}));
    EXPECT_EQ(recorder.tensors[2].name, "linear_scale");
    EXPECT_EQ(recorder.tensors[2].shape, std::vector<int64_t>{3});
    // 127 / 2 * 0.5 = 31.75. The scale of the second row is 0.
    EXPECT_EQ(recorder.bytes[1], std::string({32, -127, 64, 0, 0, 0, 127, -127, 11}));
    EXPECT_EQ(recorder.bytes[2], FloatBytes(std::vector<float>{2.0f / 127, 0, 3.0f / 127}));
    EXPECT_EQ(recorder.bytes[0], FloatBytes(std::vector<float>{1, 2, 3}));
    EXPECT_EQ(recorder.bytes[3], FloatBytes(std::vector<float>{4, 5, 6}));
  }
}

TEST(RowEncoderTest, HalvesGiveTheBitsOfTheirFloats) {
  // Half precision can represent all of kValues.
  SafetensorsWriter writer;
  writer.Add("linear", {3, 3}, kValues, "F16");
  TensorRecorder halves, floats;
  ASSERT_TRUE(Encode(File(kValues), floats).ok());
  RowEncoder encoder([](auto) { return std::vector<StoredRows>{{.format = &Int8Format()}}; }, halves);
  WeightsParser parser(encoder);
  const std::string file = writer.File();
  ASSERT_TRUE(parser.Feed(AsBytes(file)).ok());
  EXPECT_EQ(halves.bytes[0], floats.bytes[1]);
  EXPECT_EQ(halves.bytes[1], floats.bytes[2]);
}

TEST(RowEncoderTest, NamesTheRowThatIsNotFinite) {
  std::vector<float> values = kValues;
  values[7] = std::numeric_limits<float>::quiet_NaN();
  TensorRecorder recorder;
  ExpectError(Encode(File(values), recorder), StatusCode::kMalformedFile, "\"linear\" holds NaN or infinity in row 2");
}

constexpr const char* kConfig = R"({"model_type": "bert", "vocab_size": 8, "hidden_size": 4, "num_hidden_layers": 1,
  "num_attention_heads": 2, "intermediate_size": 4, "max_position_embeddings": 4})";

TensorInfo Tensor(std::string name, std::vector<int64_t> shape, DType dtype = DType::kF32) {
  return {.name = std::move(name), .dtype_name = DTypeName(dtype), .dtype = dtype, .shape = std::move(shape)};
}

TEST(StoredFormatTest, EncodesWhatEveryHeadReadsByRows) {
  const auto stored = StoredFormat::Create(kConfig, Precision::kQ8);
  ASSERT_TRUE(stored.ok()) << stored.status().message();
  TensorInfo tied = Tensor("cls.predictions.decoder.weight", {8, 4});
  tied.same_as = "bert.embeddings.word_embeddings.weight";
  const std::vector<TensorInfo> tensors = {
      Tensor("bert.embeddings.word_embeddings.weight", {8, 4}, DType::kBF16),
      Tensor("bert.encoder.layer.0.attention.self.query.weight", {4, 4}),
      Tensor("bert.encoder.layer.0.output.dense.weight", {4, 4}, DType::kI8),  // already encoded
      Tensor("bert.encoder.layer.0.intermediate.dense.weight", {4, 5}),        // wrong shape
      Tensor("bert.encoder.layer.0.attention.self.query.bias", {4}),
      Tensor("bert.embeddings.position_embeddings.weight", {4, 4}),
      Tensor("bert.pooler.dense.weight", {4, 4}),
      Tensor("classifier.weight", {2, 4}),
      Tensor("scalar", {}),
      tied,
  };
  const auto formats = stored->Choose(tensors);
  ASSERT_TRUE(formats.ok());
  std::vector<size_t> encoded;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if ((*formats)[i].format != nullptr) encoded.push_back(i);
  }
  EXPECT_EQ(encoded, (std::vector<size_t>{0, 1}));
}

TEST(StoredFormatTest, RefusesWhatIsQuantisedAlreadyAndFormatsOfNoCheckpoint) {
  const auto stored = StoredFormat::Create(kConfig, Precision::kQ8);
  ASSERT_TRUE(stored.ok());
  ExpectError(StoredFormat::Create(stored->config_json(), Precision::kQ8).status(), StatusCode::kUnsupported,
              "quantised already");
  ExpectError(StoredFormat::Create(kConfig, Precision::kF16).status(), StatusCode::kUnsupported, "f16");
  ExpectError(StoredFormat::Create(R"({"model_type": "gpt2"})", Precision::kQ8).status(), StatusCode::kUnsupported,
              "gpt2");
}

}  // namespace
}  // namespace peruse::testing
