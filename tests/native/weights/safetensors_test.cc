#include "core/weights/safetensors.h"

#include <gtest/gtest.h>

#include "tests/native/weights/safetensors_writer.h"
#include "tests/native/weights/tensor_recorder.h"

namespace peruse::testing {
namespace {

using Recorder = TensorRecorder;

Status Parse(const std::string& file, Recorder& recorder, size_t chunk = 1 << 20) {
  return ParseInChunks<SafetensorsParser>(file, recorder, chunk);
}

Status ParseHeader(const std::string& header, const std::string& body = "") {
  Recorder recorder;
  return Parse(SafetensorsFile(header, body), recorder);
}

std::string SmallFile() {
  SafetensorsWriter writer;
  writer.Add("a", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  writer.AddBytes("empty", {0, 4}, "", "F32");
  writer.AddBytes("ids", {1, 2}, std::string(16, '\1'), "I64");
  writer.Add("h", {3}, std::vector<float>{1, -2, 0.5f}, "F16");
  return writer.File();
}

TEST(SafetensorsTest, AnyChunkSizeGivesTheSameTensors) {
  const std::string file = SmallFile();
  Recorder whole;
  ASSERT_TRUE(Parse(file, whole).ok());
  ASSERT_EQ(whole.tensors.size(), 4u);
  EXPECT_EQ(whole.tensors[0].name, "a");
  EXPECT_EQ(whole.tensors[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(whole.tensors[3].dtype, DType::kF16);
  EXPECT_EQ(whole.bytes[0], FloatBytes(std::vector<float>{1, 2, 3, 4, 5, 6}));
  for (size_t chunk = 1; chunk < 40; ++chunk) {
    Recorder pieces;
    ASSERT_TRUE(Parse(file, pieces, chunk).ok());
    EXPECT_EQ(pieces.bytes, whole.bytes);
    EXPECT_EQ(pieces.headers, 1);
  }
}

TEST(SafetensorsTest, TensorsAreDeliveredInFileOrderWhateverTheHeaderOrder) {
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"second":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},)"
      R"("first":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}   )";
  Recorder recorder;
  ASSERT_TRUE(Parse(SafetensorsFile(header, "abc"), recorder).ok());
  ASSERT_EQ(recorder.tensors.size(), 2u);
  EXPECT_EQ(recorder.tensors[0].name, "first");
  EXPECT_EQ(recorder.bytes[1], "bc");
}

// safetensors' save_model writes tied tensors like this.
TEST(SafetensorsTest, OtherNamesOfATensorAreInTheMetadata) {
  const std::string header =
      R"({"__metadata__":{"format":"pt","tied":"first","also":"first","lost":"nowhere","second":"first"},)"
      R"("first":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"second":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})";
  class Choosy : public Recorder {
   public:
    bool Wants(size_t index) const override { return tensors[index].name != unwanted; }
    std::string unwanted;
  };
  for (const char* unwanted : {"", "first", "tied"}) {
    for (size_t chunk = 1; chunk < 8; ++chunk) {
      Choosy recorder;
      recorder.unwanted = unwanted;
      ASSERT_TRUE(Parse(SafetensorsFile(header, "abcdef"), recorder, chunk).ok());
      ASSERT_EQ(recorder.tensors.size(), 4u);
      for (size_t i = 0; i < 4; ++i) {
        const std::string& name = recorder.tensors[i].name;
        EXPECT_EQ(recorder.tensors[i].same_as, name == "tied" || name == "also" ? "first" : "") << name;
        EXPECT_EQ(recorder.bytes[i], name == unwanted ? "" : name == "second" ? "ef" : "abcd") << name;
      }
    }
  }
}

TEST(SafetensorsTest, TruncationIsToldApartAtEveryByte) {
  const std::string file = SmallFile();
  for (size_t size = 0; size < file.size(); ++size) {
    Recorder recorder;
    const Status status = Parse(file.substr(0, size), recorder);
    EXPECT_EQ(status.code(), StatusCode::kTruncatedFile) << size << ": " << status.message();
  }
  Recorder recorder;
  ExpectError(Parse(file.substr(0, file.size() - 4), recorder), StatusCode::kTruncatedFile,
              "tensor \"h\": 2 of 6 bytes");
  ExpectError(Parse(file.substr(0, 5), recorder), StatusCode::kTruncatedFile, "after 5 bytes");
  ExpectError(Parse(file.substr(0, 20), recorder), StatusCode::kTruncatedFile, "within its header: 12 of");
}

TEST(SafetensorsTest, TrailingBytesAreRefused) {
  Recorder recorder;
  ExpectError(Parse(SmallFile() + "x", recorder), StatusCode::kMalformedFile, "after the last tensor");
}

TEST(SafetensorsTest, AnImplausibleLengthIsRefusedBeforeItsBytesCome) {
  Recorder recorder;
  SafetensorsParser parser(recorder);
  const std::vector<uint8_t> length(8, 0xFF);
  ExpectError(parser.Feed(length), StatusCode::kMalformedFile, "not plausible");
  const std::string pickle = "PK\3\4 and so on";
  ExpectError(Parse(pickle, recorder), StatusCode::kMalformedFile, "safetensors file?");
  ExpectError(Parse(SafetensorsFile("", ""), recorder), StatusCode::kMalformedFile, "empty");
  ExpectError(Parse(SafetensorsFile("[]", ""), recorder), StatusCode::kMalformedFile, "'{'");
}

TEST(SafetensorsTest, BrokenHeaders) {
  const auto tensor = [](const std::string& fields) { return "{\"t\":{" + fields + "}}"; };
  ExpectError(ParseHeader("{\"t\":"), StatusCode::kMalformedFile, "safetensors header");
  ExpectError(ParseHeader("{\"t\":3}"), StatusCode::kMalformedFile, "\"t\"");
  ExpectError(ParseHeader(tensor(R"("shape":[1],"data_offsets":[0,4])")), StatusCode::kMalformedFile, "no dtype");
  ExpectError(ParseHeader(tensor(R"("dtype":"F32","data_offsets":[0,4])")), StatusCode::kMalformedFile, "no shape");
  ExpectError(ParseHeader(tensor(R"("dtype":"F99","shape":[1],"data_offsets":[0,4])")), StatusCode::kUnsupported,
              "F99");
  for (const char* shape : {"[-1]", "[1.5]", "[\"1\"]", "[1e30]", "[99999999999999999999]"}) {
    ExpectError(ParseHeader(tensor(R"("dtype":"F32","data_offsets":[0,4],"shape":)" + std::string(shape))),
                StatusCode::kMalformedFile, "impossible shape");
  }
  for (const char* offsets : {"[4,0]", "[-4,0]", "[0]", "[0,4,8]", "{}", "[0,1e30]"}) {
    ExpectError(ParseHeader(tensor(R"("dtype":"F32","shape":[1],"data_offsets":)" + std::string(offsets))),
                StatusCode::kMalformedFile, "impossible data_offsets");
  }
}

TEST(SafetensorsTest, ShapeTimesTypeMustBeTheByteCount) {
  const auto header = [](const std::string& dtype, const std::string& shape, const std::string& end) {
    return "{\"t\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[0," + end + "]}}";
  };
  ExpectError(ParseHeader(header("F32", "[2]", "7"), "1234567"), StatusCode::kMalformedFile, "cannot have 7 bytes");
  ExpectError(ParseHeader(header("F16", "[2]", "8"), "12345678"), StatusCode::kMalformedFile, "cannot have 8 bytes");
  ExpectError(ParseHeader(header("F32", "[4294967296,4294967296]", "0")), StatusCode::kMalformedFile, "cannot have");
  ExpectError(ParseHeader(header("F64", "[2305843009213693952]", "0")), StatusCode::kMalformedFile, "cannot have");
  ExpectError(ParseHeader(header("F32", "[9223372036854775807,4]", "0")), StatusCode::kMalformedFile, "cannot have");
  EXPECT_TRUE(ParseHeader(header("F32", "[0,9223372036854775807,9223372036854775807]", "0")).ok());
}

TEST(SafetensorsTest, OverlapsHolesAndDuplicates) {
  const auto two = [](const std::string& name, const std::string& offsets) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},")" + name +
           R"(":{"dtype":"U8","shape":[4],"data_offsets":)" + offsets + "}}";
  };
  EXPECT_TRUE(ParseHeader(two("b", "[4,8]"), "12345678").ok());
  ExpectError(ParseHeader(two("b", "[2,6]"), "123456"), StatusCode::kMalformedFile, "overlaps \"a\"");
  ExpectError(ParseHeader(two("b", "[0,4]"), "1234"), StatusCode::kMalformedFile, "overlaps");
  ExpectError(ParseHeader(two("b", "[5,9]"), "123456789"), StatusCode::kMalformedFile, "hole that starts at byte 4");
  ExpectError(ParseHeader(two("a", "[4,8]"), "12345678"), StatusCode::kMalformedFile, "\"a\" is described twice");
}

TEST(SafetensorsTest, AHugeTensorIsOnlyAPromise) {
  // A terabyte that never arrives; its memory must not be allocated.
  Recorder recorder;
  const std::string header = R"({"t":{"dtype":"U8","shape":[1099511627776],"data_offsets":[0,1099511627776]}})";
  ExpectError(Parse(SafetensorsFile(header, "12"), recorder), StatusCode::kTruncatedFile, "2 of 1099511627776");
}

TEST(SafetensorsTest, ErrorsStick) {
  Recorder recorder;
  recorder.answer = Unsupported("no");
  SafetensorsParser parser(recorder);
  const std::string file = SmallFile();
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  EXPECT_EQ(parser.Feed(bytes).message(), "no");
  EXPECT_EQ(parser.Feed(bytes).message(), "no");
  EXPECT_EQ(parser.Finish().message(), "no");
}

}  // namespace
}  // namespace peruse::testing
