#include <gtest/gtest.h>

#include <functional>

#include "core/weights/weights_parser.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/weights/pytorch_writer.h"
#include "tests/native/weights/safetensors_writer.h"
#include "tests/native/weights/tensor_recorder.h"

namespace peruse::testing {
namespace {

Status Parse(const std::string& file, TensorRecorder& recorder, size_t chunk = 1 << 20) {
  return ParseInChunks<WeightsParser>(file, recorder, chunk);
}

Status Parse(const std::string& file) {
  TensorRecorder recorder;
  return Parse(file, recorder);
}

void ExpectSameTensors(const TensorRecorder& recorder, const TensorRecorder& expected) {
  EXPECT_EQ(recorder.headers, 1);
  ASSERT_EQ(recorder.tensors.size(), expected.tensors.size());
  for (size_t i = 0; i < expected.tensors.size(); ++i) {
    const TensorInfo& info = expected.tensors[i];
    size_t at = 0;
    while (at < recorder.tensors.size() && recorder.tensors[at].name != info.name) ++at;
    ASSERT_LT(at, recorder.tensors.size()) << info.name;
    EXPECT_EQ(recorder.tensors[at].dtype_name, info.dtype_name) << info.name;
    EXPECT_EQ(recorder.tensors[at].dtype, info.dtype) << info.name;
    EXPECT_EQ(recorder.tensors[at].shape, info.shape) << info.name;
    EXPECT_EQ(recorder.bytes[at], expected.bytes[i]) << info.name;
  }
}

class PytorchFileTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PytorchFileTest, HoldsTheTensorsThatTorchWrote) {
  const std::string file = ReadFixture("pytorch/" + std::string(GetParam()) + ".bin");
  TensorRecorder expected;
  ASSERT_TRUE(Parse(ReadFixture("pytorch/expected.safetensors"), expected).ok());
  EXPECT_GE(expected.tensors.size(), 28u);
  for (const size_t chunk : {size_t{1} << 20, size_t{1}, size_t{3}, size_t{64}, size_t{1000}}) {
    TensorRecorder recorder;
    const Status status = Parse(file, recorder, chunk);
    ASSERT_TRUE(status.ok()) << status.message();
    ExpectSameTensors(recorder, expected);
  }
}

TEST_P(PytorchFileTest, TruncationIsToldApart) {
  const std::string file = ReadFixture("pytorch/" + std::string(GetParam()) + ".bin");
  for (size_t size = 0; size < file.size(); size += size < 100 || size > file.size() - 100 ? 1 : 11) {
    const Status status = Parse(file.substr(0, size));
    ASSERT_EQ(status.code(), StatusCode::kTruncatedFile) << size << ": " << status.message();
  }
  ExpectError(Parse(file + "x"), StatusCode::kMalformedFile, "bytes after");
}

INSTANTIATE_TEST_SUITE_P(Files, PytorchFileTest,
                         ::testing::Values("zip", "stream", "repacked", "nested", "parameters", "legacy"),
                         [](const ::testing::TestParamInfo<const char*>& info) { return info.param; });

const std::string kFourFloats = FloatBytes(std::vector<float>{1, 2, 3, 4});

std::string FourFloats() { return PickleStorage("FloatStorage", "0", 4); }
std::string OneTensor() { return PickleDict({{"a", PickleTensor(FourFloats(), 0, {2, 2}, {2, 1})}}); }

TEST(PytorchTest, TheHandMadeFilesOfTheseTestsAreSound) {
  for (const std::string& file : {PytorchFile(OneTensor(), {kFourFloats}), LegacyFile(OneTensor(), {kFourFloats})}) {
    TensorRecorder recorder;
    const Status status = Parse(file, recorder);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(recorder.tensors.size(), 1u);
    EXPECT_EQ(recorder.bytes[0], kFourFloats);
  }
}

TEST(PytorchTest, Crc32) {
  const std::string text = "123456789";
  EXPECT_EQ(Crc32(0, Bytes(text)), 0xCBF43926u);
  EXPECT_EQ(Crc32(Crc32(0, Bytes(text).first(4)), Bytes(text).subspan(4)), 0xCBF43926u);
  EXPECT_EQ(Crc32(0, {}), 0u);
}

Status ParsePickle(const std::string& value) { return Parse(PytorchFile(value, {kFourFloats})); }

TEST(PytorchTest, NamesThatNoStateDictNeedsAreRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"os", "system"},
      {"posix", "system"},
      {"builtins", "eval"},
      {"builtins", "exec"},
      {"argparse", "Namespace"},
      {"torch", "UntypedStorage"},
      {"torch", "load"},
      {"torch._utils", "_rebuild_qtensor"},
      {"torch._tensor", "_rebuild_from_type_v2"},
      {"numpy.core.multiarray", "_reconstruct"},
      {"collections", "defaultdict"},
      {"torch", "device"},
      {"torch.storage", "_load_from_bytes"},
      {"torch._utils", "OrderedDict"},
  };
  for (const auto& [module, name] : names) {
    const std::string call = PickleCall(PickleGlobal(module, name), {PickleText("touch /tmp/peruse")});
    ExpectError(ParsePickle(PickleDict({{"a", call}})), StatusCode::kUnsupported, module + "." + name);
    ExpectError(Parse(LegacyFile(call, {})), StatusCode::kUnsupported, module + "." + name);
  }
  // Messages never contain raw text of a file.
  ExpectError(ParsePickle(PickleGlobal("a\x1B[31m\xFF", "b")), StatusCode::kUnsupported, "a?[31m?.b");
}

TEST(PytorchTest, InstructionsThatNoStateDictNeedsAreRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> instructions = {
      {"0", "POP"},          {"i", "INST"},     {"o", "OBJ"},          {"\x81", "NEWOBJ"},
      {"\x92", "NEWOBJ_EX"}, {"\x82", "EXT1"},  {"P", "PERSID"},       {"\x93", "STACK_GLOBAL"},
      {"\x94", "MEMOIZE"},   {"\x95", "FRAME"}, {"\x8F", "EMPTY_SET"}, {"S", "STRING"},
      {"B", "BINBYTES"},     {"\x8B", "LONG4"},
  };
  for (const auto& [code, name] : instructions) {
    ExpectError(ParsePickle(code), StatusCode::kUnsupported, "instruction " + name + " (");
  }
  ExpectError(ParsePickle("\xFE"), StatusCode::kMalformedFile, "unknown instruction 254");
  ExpectError(ParsePickle("\x80\x04"), StatusCode::kUnsupported, "protocol 4");
}

TEST(PytorchTest, BrokenPickles) {
  const std::string dict = "}";
  const std::vector<std::pair<std::string, std::string>> pickles = {
      {"", "ends with 0 values"},
      {"NN", "ends with 2 values"},
      {"(N", "ends with 1 values"},
      {"a", "is not there"},
      {"R", "is not there"},
      {"N(a", "is not there"},
      {"t", "has not begun"},
      {"N\x87", "is not there"},
      {"](N\x85"
       "e",
       ""},  // valid, but not a dictionary
      {"NNa", "not a list"},
      {"NNNs", "no dictionary"},
      {"}NNs", "neither text nor integer"},
      {"}(Nu", "without a value"},
      {"h\x05", "recalls value 5"},
      {"j\xFF\xFF\xFF\xFF", "recalls value 4294967295"},
      {"Nr\xFF\xFF\xFF\xFF", "remembers more"},
      {std::string("\x8A\x09", 2) + std::string(9, 1), "integer of 9 bytes"},
      {"X" + LittleEndian(70000, 4), "string of 70000 bytes"},
      {"X" + LittleEndian(0xFFFFFFFF, 4), "string of 4294967295 bytes"},
      {PickleText("\xC3\x28"), "not valid text"},
      {std::string("U\x01\xC3", 3), "not valid text"},
      {std::string(100, '('), "nested"},
      {"c" + std::string(1000, 'a'), "class without an end"},
      {"N" + PickleText("a") + "Q", "persistent id"},
      {PickleTuple(
           {PickleText("storage"), PickleText("FloatStorage"), PickleText("0"), PickleText("cpu"), PickleInt(4)}) +
           "Q",
       "persistent id"},
      {PickleText("a") + PickleTuple({}) + "R", "not a function"},
      {PickleGlobal("torch", "FloatStorage") + PickleTuple({}) + "R", "not a function"},
      {PickleGlobal("collections", "OrderedDict") + PickleTuple({"N"}) + "R", "OrderedDict of something"},
      {PickleGlobal("collections", "OrderedDict") + "\x85", "function belongs"},
      {"]" + PickleGlobal("collections", "OrderedDict") + "a", "function or class into a list"},
      {PickleDict({{"a", PickleGlobal("torch", "FloatStorage")}}), "function or class into a dictionary"},
      {PickleDict({{"a", PickleTuple({PickleGlobal("torch", "FloatStorage")})}}),
       "function or class into a dictionary"},
      {PickleTuple({PickleTuple({PickleGlobal("torch", "FloatStorage")})}), "no class belongs"},
      {dict + dict + "b", "not an OrderedDict"},
      {PickleOrderedDict() + "Nb", "not an OrderedDict"},
      {PickleCall(PickleGlobal("torch._utils", "_rebuild_parameter"), {"N", "\x88", PickleOrderedDict()}), "parameter"},
      {PickleCall(PickleGlobal("torch._utils", "_rebuild_tensor_v2"), {"N"}), "of 1 things"},
      {PickleTensor("N", 0, {1}, {1}), "without a storage"},
      {PickleTensor(PickleStorage("FloatStorage", "0", 4), -1, {1}, {1}), "without a storage"},
  };
  for (const auto& [pickle, part] : pickles) {
    const Status status = ParsePickle(pickle);
    EXPECT_FALSE(status.ok()) << part;
    EXPECT_NE(status.message().find(part), std::string::npos) << part << ": " << status.message();
  }
}

TEST(PytorchTest, CountsAreLimited) {
  ExpectError(ParsePickle(std::string(1'000'001, 'N')), StatusCode::kMalformedFile, "more than 1000000 values");
}

TEST(PytorchTest, AListThatHoldsItselfHarmsNobody) {
  EXPECT_TRUE(ParsePickle("}" + PickleText("l") + "]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a" + "s" +
                          PickleText("a") + PickleTensor(FourFloats(), 0, {4}, {1}) + "s")
                  .ok());
}

TEST(PytorchTest, WhatIsNoStateDictIsRefused) {
  ExpectError(ParsePickle("}"), StatusCode::kUnsupported, "no dictionary of tensors");
  ExpectError(ParsePickle("N"), StatusCode::kUnsupported, "no dictionary of tensors");
  ExpectError(ParsePickle(PickleTensor(FourFloats(), 0, {4}, {1})), StatusCode::kUnsupported,
              "no dictionary of tensors");
  ExpectError(ParsePickle(PickleDict({{"optimizer", OneTensor()}})), StatusCode::kUnsupported,
              "no dictionary of tensors");
  EXPECT_TRUE(ParsePickle(PickleDict({{"model", OneTensor()}})).ok());
}

Status ParseTensor(int64_t offset, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  return ParsePickle(PickleDict({{"a", PickleTensor(FourFloats(), offset, shape, strides)}}));
}

TEST(PytorchTest, ImpossibleTensors) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  for (const auto& [offset, shape, strides] :
       std::vector<std::tuple<int64_t, std::vector<int64_t>, std::vector<int64_t>>>{
           {0, {5}, {1}},
           {1, {4}, {1}},
           {5, {1}, {1}},
           {kHuge, {1}, {1}},
           {0, {2, 2}, {3, 1}},
           {0, {2}, {kHuge}},
           {0, {2, 2, 2}, {kHuge, kHuge, kHuge}},
           {0, {kHuge}, {0}},
           {0, {kHuge, kHuge}, {0, 0}},
           {0, {kHuge, 2}, {kHuge, kHuge}},
           {-1, {4}, {1}},
           {0, {-4}, {1}},
           {0, {4}, {-1}},
           {0, {4, 1}, {1}},
           {0, std::vector<int64_t>(9, 1), std::vector<int64_t>(9, 1)},
       }) {
    const Status status = ParseTensor(offset, shape, strides);
    EXPECT_EQ(status.code(), StatusCode::kMalformedFile)
        << ShapeString(shape) << " " << ShapeString(strides) << " " << status.message();
  }
}

TEST(PytorchTest, PossibleTensors) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  EXPECT_TRUE(ParseTensor(4, {0}, {1}).ok());
  EXPECT_TRUE(ParseTensor(4, {0, kHuge, kHuge}, {1, kHuge, 1}).ok());
  EXPECT_TRUE(ParseTensor(3, {}, {}).ok());
  // A dimension of one element may have any stride, also in a tensor that is gathered.
  EXPECT_TRUE(ParseTensor(0, {1, 2, 2}, {kHuge, 1, 2}).ok());
  EXPECT_TRUE(ParseTensor(0, {1, 4}, {kHuge, 1}).ok());
}

TEST(PytorchTest, AnExpandedTensorIsLimited) {
  ExpectError(ParseTensor(0, {1 << 20}, {0}), StatusCode::kMalformedFile, "4 times as many bytes");
  EXPECT_TRUE(ParseTensor(0, {1 << 16}, {0}).ok());
}

TEST(PytorchTest, HooksAndMetadataAreRefused) {
  const auto rebuild = [](const std::string& hooks, const std::string& metadata) {
    return PickleDict(
        {{"a", PickleCall(PickleGlobal("torch._utils", "_rebuild_tensor_v2"),
                          {FourFloats(), PickleInt(0), PickleInts({4}), PickleInts({1}), "\x89", hooks, metadata})}});
  };
  EXPECT_TRUE(ParsePickle(rebuild(PickleOrderedDict(), "N")).ok());
  EXPECT_TRUE(ParsePickle(rebuild(PickleOrderedDict(), "}")).ok());
  ExpectError(ParsePickle(rebuild("N", "N")), StatusCode::kMalformedFile, "hooks");
  ExpectError(ParsePickle(rebuild(PickleDict({{"neg", "\x88"}}), "N")), StatusCode::kMalformedFile, "hooks");
  ExpectError(ParsePickle(rebuild(PickleOrderedDict(), PickleDict({{"neg", "\x88"}}))), StatusCode::kUnsupported,
              "metadata");
}

TEST(PytorchTest, Storages) {
  const auto two = [](const std::string& first, const std::string& second) {
    return PickleDict({{"a", PickleTensor(first, 0, {1}, {1})}, {"b", PickleTensor(second, 0, {1}, {1})}});
  };
  ExpectError(ParsePickle(two(FourFloats(), PickleStorage("FloatStorage", "0", 5))), StatusCode::kMalformedFile,
              "first one thing");
  ExpectError(ParsePickle(two(FourFloats(), PickleStorage("HalfStorage", "0", 4))), StatusCode::kMalformedFile,
              "first one thing");
  ExpectError(ParsePickle(two(FourFloats(), PickleStorage("FloatStorage", "1", int64_t{1} << 61))),
              StatusCode::kMalformedFile, "storage has");
  ExpectError(ParsePickle(two(FourFloats(), PickleStorage("FloatStorage", "1", -1))), StatusCode::kMalformedFile,
              "persistent id");
  ExpectError(ParsePickle(two(FourFloats(), PickleStorage("FloatStorage", "1", 4))), StatusCode::kMalformedFile,
              "no data for tensor \"b\"");
  // A storage claims more than the memory; its memory must not be allocated before its bytes arrive.
  ExpectError(Parse(PytorchFile(PickleDict({{"a", PickleTensor(PickleStorage("FloatStorage", "0", int64_t{1} << 50), 0,
                                                               {1 << 20, 2}, {2, 4})}}),
                                {std::string(100, 'x')})
                        .substr(0, 900)),
              StatusCode::kTruncatedFile, "within tensor \"a\"");
  const std::string meta = PickleTuple({PickleText("storage"), PickleGlobal("torch", "FloatStorage"), PickleText("0"),
                                        PickleText("meta"), PickleInt(4)}) +
                           "Q";
  ExpectError(ParsePickle(two(meta, meta)), StatusCode::kUnsupported, "meta");
}

TEST(PytorchTest, AVisitorThatDoesNotWantATensorGetsNothingOfIt) {
  class Picky : public TensorRecorder {
   public:
    bool Wants(size_t index) const override { return tensors[index].name == "b"; }
  };
  const std::string file = PytorchFile(PickleDict({{"a", PickleTensor(FourFloats(), 0, {2, 2}, {1, 2})},
                                                   {"b", PickleTensor(FourFloats(), 1, {2}, {1})}}),
                                       {kFourFloats});
  Picky picky;
  ASSERT_TRUE(Parse(file, picky).ok());
  EXPECT_EQ(picky.bytes[0], "");
  EXPECT_EQ(picky.bytes[1], kFourFloats.substr(4, 8));
}

// Writes the file of OneTensor(); `change` may change the archive.
std::string Archive(const std::function<void(ZipWriter&)>& add) {
  ZipWriter zip;
  add(zip);
  return zip.File();
}
void AddPickle(ZipWriter& zip, const std::string& top = "a") { zip.Add(top + "/data.pkl", PickleFile(OneTensor())); }

TEST(PytorchTest, ZipVariants) {
  const auto with = [](const ZipWriter::Options& options) {
    return Archive([&](ZipWriter& zip) {
      zip.Add("a/data.pkl", PickleFile(OneTensor()), options);
      zip.Add("a/.format_version", "1", options);
      zip.Add("a/.storage_alignment", "64", options);
      zip.Add("a/byteorder", "little", options);
      zip.Add("a/data/0", kFourFloats, options);
      zip.Add("a/.data/serialization_id", "0123456789", options);
    });
  };
  for (const ZipWriter::Options& options :
       {ZipWriter::Options{}, ZipWriter::Options{.wide = true}, ZipWriter::Options{.sized = true},
        ZipWriter::Options{.sized = true, .zip64 = true},
        ZipWriter::Options{.sized = true, .zip64 = true, .extra = "FB" + LittleEndian(3, 2) + "ZZZ"},
        ZipWriter::Options{.extra = "FB" + LittleEndian(50, 2) + std::string(50, 'Z')}}) {
    for (const size_t chunk : {size_t{1}, size_t{1} << 20}) {
      TensorRecorder recorder;
      const Status status = Parse(with(options), recorder, chunk);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(recorder.bytes[0], kFourFloats);
    }
  }
  ExpectError(Parse(with({.method = 8})), StatusCode::kUnsupported, "compressed");
  ExpectError(Parse(with({.flags = 0x0809})), StatusCode::kUnsupported, "encrypted");
  ExpectError(Parse(with({.damaged = true})), StatusCode::kMalformedFile, "damaged");
  ExpectError(Parse(with({.sized = true, .damaged = true})), StatusCode::kMalformedFile, "damaged");
  // Missing zip64 sizes: no field, a field with one size, a field longer than the header.
  const std::string field = Zip64Extra(0x77777777);
  for (const std::string& extra :
       {std::string(), std::string(4, 0), LittleEndian(1, 2) + LittleEndian(8, 2) + "12345678",
        field.substr(0, field.size() - 1)}) {
    std::string file = with({.sized = true, .extra = extra});
    file.replace(18, 8, std::string(8, '\xFF'));
    ExpectError(Parse(file), StatusCode::kMalformedFile, "a record of unknown size");
  }
  // A size that differs from the record's.
  std::string longer = with({.sized = true, .extra = Zip64Extra(0x123456789)});
  longer.replace(18, 8, std::string(8, '\xFF'));
  ExpectError(Parse(longer), StatusCode::kMalformedFile, "should have 4886718345 bytes");
  ZipWriter small;
  AddPickle(small);
  small.Add("a/data/0", kFourFloats);
  EXPECT_TRUE(Parse(small.SmallFile()).ok());
}

TEST(PytorchTest, BrokenArchives) {
  const std::vector<std::tuple<std::function<void(ZipWriter&)>, StatusCode, std::string>> archives = {
      {[](ZipWriter& zip) { zip.Add("word/document.xml", "<xml/>"); }, StatusCode::kUnsupported, "word/document.xml"},
      {[](ZipWriter& zip) { zip.Add("data.pkl", PickleFile(OneTensor())); }, StatusCode::kUnsupported,
       "no PyTorch file"},
      {[](ZipWriter& zip) { zip.Add("a/data/0", kFourFloats); }, StatusCode::kUnsupported, "read as it arrives"},
      {[](ZipWriter& zip) { zip.Add("a/constants.pkl", ""); }, StatusCode::kUnsupported, "TorchScript"},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("a/code/x.py", ""); }, StatusCode::kUnsupported, "TorchScript"},
      {[](ZipWriter& zip) { AddPickle(zip), AddPickle(zip); }, StatusCode::kMalformedFile, "two records"},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("b/data/0", kFourFloats); }, StatusCode::kUnsupported, "b/data/0"},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("a/byteorder", "big"); }, StatusCode::kUnsupported, "big-endian"},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("a/data/7", "x"); }, StatusCode::kMalformedFile, "storage \"7\""},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("a/data/0", kFourFloats), zip.Add("a/data/0", kFourFloats); },
       StatusCode::kMalformedFile, "come twice"},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("a/data/0", kFourFloats + "x"); }, StatusCode::kMalformedFile,
       "longer than its 16 bytes"},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("a/data/0", kFourFloats.substr(1), {.sized = true}); },
       StatusCode::kMalformedFile, "should have 15 bytes"},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("a/data/0", kFourFloats.substr(1)); }, StatusCode::kMalformedFile,
       ""},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("a/version", std::string(70000, '3')); },
       StatusCode::kMalformedFile, "long record"},
      {[](ZipWriter& zip) { AddPickle(zip), zip.Add("a/version", "3"); }, StatusCode::kMalformedFile,
       "no data for tensor \"a\""},
      {[](ZipWriter& zip) { zip.Add("a/data.pkl", PickleFile(OneTensor()) + "x"); }, StatusCode::kMalformedFile,
       "longer than"},
      {[](ZipWriter& zip) { zip.Add("\xFF/data.pkl", ""); }, StatusCode::kMalformedFile, "not valid text"},
      {[](ZipWriter& zip) { zip.Add("", ""); }, StatusCode::kMalformedFile, "without a name"},
  };
  for (const auto& [add, code, part] : archives) ExpectError(Parse(Archive(add)), code, part);

  EXPECT_TRUE(Parse(Archive([](ZipWriter& zip) {
                AddPickle(zip);
                zip.Add("a/notes", std::string(70000, 'n'), {.sized = true});
                zip.Add("a/data/0", kFourFloats);
              })).ok());

  ZipWriter zip;
  AddPickle(zip);
  zip.Add("a/data/0", kFourFloats);
  ExpectError(Parse(zip.Body() + "nothing"), StatusCode::kMalformedFile, "no record where one should be");
  std::string fewer = zip.SmallFile();
  fewer.erase(zip.Body().size(), 46 + 10 + 4);  // the first entry of the directory
  ExpectError(Parse(fewer), StatusCode::kMalformedFile, "a directory of 1");
}

TEST(PytorchTest, LegacyViewsOfAStorage) {
  const auto view = [](int64_t first, int64_t elements) {
    const std::string part = PickleTuple({PickleText("1"), PickleInt(first), PickleInt(elements)});
    const std::string storage = PickleTuple({PickleText("storage"), PickleGlobal("torch", "FloatStorage"),
                                             PickleText("0"), PickleText("cpu"), PickleInt(4), part}) +
                                "Q";
    return LegacyFile(PickleDict({{"a", PickleTensor(storage, 1, {2}, {1})}}), {kFourFloats});
  };
  TensorRecorder recorder;
  const Status status = Parse(view(1, 3), recorder);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(recorder.bytes[0], kFourFloats.substr(8));
  ExpectError(Parse(view(2, 2)), StatusCode::kMalformedFile, "reaches past");
  ExpectError(Parse(view(2, 3)), StatusCode::kMalformedFile, "impossible part");
  ExpectError(Parse(view(5, 0)), StatusCode::kMalformedFile, "impossible part");
}

TEST(PytorchTest, LegacyTensorsOfTheFirstVersion) {
  TensorRecorder recorder;
  const std::string tensor = PickleCall(PickleGlobal("torch._utils", "_rebuild_tensor"),
                                        {FourFloats(), PickleInt(2), PickleInts({2}), PickleInts({1})});
  ASSERT_TRUE(Parse(LegacyFile(PickleDict({{"a", tensor}}), {kFourFloats}), recorder).ok());
  EXPECT_EQ(recorder.bytes[0], kFourFloats.substr(8));
}

TEST(PytorchTest, BrokenLegacyFiles) {
  ExpectError(Parse(LegacyFile(OneTensor(), {kFourFloats}, PickleDict({{"little_endian", "\x89"}}))),
              StatusCode::kUnsupported, "big-endian");
  ExpectError(Parse(LegacyFile(OneTensor(), {kFourFloats}, "N")), StatusCode::kMalformedFile, "what machine");
  ExpectError(Parse(LegacyFile(OneTensor(), {})), StatusCode::kMalformedFile, "no data for tensor \"a\"");
  ExpectError(Parse(LegacyFile(OneTensor(), {kFourFloats.substr(4)})), StatusCode::kMalformedFile,
              "3 elements instead of 4");
  ExpectError(Parse(LegacyFile(OneTensor(), {kFourFloats, kFourFloats})), StatusCode::kMalformedFile,
              "no tensor names");
  std::string other = LegacyFile(OneTensor(), {kFourFloats});
  other[12] = 'x';
  ExpectError(Parse(other), StatusCode::kMalformedFile, "magic number");
  std::string version = LegacyFile(OneTensor(), {kFourFloats});
  version[19] = 'x';
  ExpectError(Parse(version), StatusCode::kUnsupported, "not 1001");
}

TEST(PytorchTest, OtherFormatsAreNamed) {
  using std::string_literals::operator""s;
  const std::vector<std::tuple<std::string, StatusCode, std::string>> files = {
      {"version https://git-lfs.github.com/spec/v1\n", StatusCode::kMalformedFile, "Git LFS"},
      {"\1\xE1\xF5\5\0\0\0\0{"s, StatusCode::kMalformedFile, "header of 100000001 bytes"},
      {"<!DOCTYPE html><html>", StatusCode::kMalformedFile, "HTML"},
      {"{\"error\": \"not found\"}", StatusCode::kMalformedFile, "JSON"},
      {"\x89HDF\r\n\x1A\n and more", StatusCode::kUnsupported, "HDF5"},
      {"GGUF\3\0\0\0\1\0\0\1"s, StatusCode::kUnsupported, "GGUF"},
      {"\x1F\x8B\x08 and more", StatusCode::kUnsupported, "gzip"},
      {"storages" + std::string(600, '\0'), StatusCode::kUnsupported, "0.1.10"},
      {"tensors" + std::string(600, '\0'), StatusCode::kUnsupported, "0.1.10"},
      {"\x80\x04\x95\x10\x20\x30\x40\x50\x60", StatusCode::kUnsupported, "pickle"},
  };
  for (const auto& [file, code, name] : files) ExpectError(Parse(file), code, name);
  ExpectError(Parse("nothing in particular"), StatusCode::kMalformedFile, "neither safetensors nor a PyTorch file");
  for (const char* start : {"", "x", "PK\3\4"}) ExpectError(Parse(start), StatusCode::kTruncatedFile, "end after");
}

}  // namespace
}  // namespace peruse::testing
