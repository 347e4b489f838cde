// Broken or unsuitable files give one typed error each, and the library stays usable.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>

#include "core/backend/reference/reference_backend.h"
#include "core/base/json.h"
#include "core/weights/float_reader.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/weights/safetensors_writer.h"
#include "tests/native/weights/tensor_recorder.h"

namespace peruse::testing {
namespace {

const GoldenCase kConvBert = {"convbert-sequence", "ConvBertForSequenceClassification", "of the class", 0};
const GoldenCase kDeberta = {"deberta-v2-question", "DebertaV2ForQuestionAnswering", "of the class", 0};

void ExpectStatus(const Status& status, StatusCode code, const std::string& part) {
  EXPECT_EQ(StatusCodeName(status.code()), StatusCodeName(code)) << status.message();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

class Checkpoint {
 public:
  explicit Checkpoint(const GoldenCase& golden) : config(golden.Config()), options(golden.Options()) {
    const std::string file = golden.Weights();
    uint64_t header_bytes = 0;
    for (size_t i = 0; i < 8; ++i) header_bytes |= uint64_t{static_cast<uint8_t>(file[i])} << (8 * i);
    body_ = file.substr(8 + static_cast<size_t>(header_bytes));
    auto parsed = ParseSafetensorsHeader(file.substr(8, static_cast<size_t>(header_bytes)));
    EXPECT_TRUE(parsed.ok());
    tensors = std::move(*parsed);
  }

  TensorInfo& Find(const std::string& name) {
    for (TensorInfo& tensor : tensors) {
      if (tensor.name == name) return tensor;
    }
    ADD_FAILURE() << name;
    return tensors[0];
  }
  void Remove(const std::string& name) {
    std::erase_if(tensors, [&](const TensorInfo& t) { return t.name == name; });
  }
  void ReplaceInNames(const std::string& from, const std::string& to) {
    for (TensorInfo& tensor : tensors) {
      if (const size_t at = tensor.name.find(from); at != std::string::npos) tensor.name.replace(at, from.size(), to);
    }
  }
  void ReplaceInConfig(const std::string& from, const std::string& to) {
    const size_t at = config.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    config.replace(at, from.size(), to);
  }

  std::string File() const {
    return File([](const TensorInfo&) { return true; });
  }
  // A file with all tensors as `dtype`, and one odd value in each of the named tensors.
  std::string FileWith(const std::map<std::string, float>& odd, const std::string& dtype) {
    SafetensorsWriter writer;
    for (const TensorInfo& t : tensors) {
      std::vector<float> values(t.bytes() / static_cast<size_t>(DTypeSize(*t.dtype)));
      ConvertToFloat(*t.dtype, Bytes(body_).subspan(t.begin, t.bytes()), values);
      if (const auto found = odd.find(t.name); found != odd.end()) values[values.size() * 2 / 3] = found->second;
      writer.Add(t.name, t.shape, values, dtype);
    }
    return writer.File();
  }
  template <typename Predicate>
  std::string File(Predicate wanted) const {
    SafetensorsWriter writer;
    for (const TensorInfo& t : tensors) {
      if (wanted(t)) writer.AddBytes(t.name, t.shape, body_.substr(t.begin, t.end - t.begin), t.dtype_name);
    }
    return writer.File();
  }

  Result<std::unique_ptr<Runner>> Load(Backend& backend) const { return LoadModel(config, File(), options, backend); }
  Result<std::shared_ptr<const LoadedModel>> LoadOnly(Backend& backend) const {
    return LoadWeights(config, File(), options, backend);
  }

  std::string config;
  ModelOptions options;
  std::vector<TensorInfo> tensors;

 private:
  std::string body_;
};

class LoadingTest : public ::testing::Test {
 protected:
  Status LoadStatus(const Checkpoint& checkpoint) { return checkpoint.Load(*backend_).status(); }

  std::vector<float> Logits(Runner& model) {
    const std::vector<int32_t> ids = {2, 7, 11, 5};
    const ModelInput input = {ids, {}};
    EXPECT_TRUE(model.Begin({&input, 1}).ok());
    EXPECT_TRUE(model.Finish().ok());
    return ValuesOf(model, kLogits);
  }

  void TearDown() override {
    // A valid checkpoint still loads into the same backend and runs.
    auto model = Checkpoint(kConvBert).Load(*backend_);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(Logits(**model).size(), 3u);
  }

  std::unique_ptr<Backend> backend_ = CreateReferenceBackend();
};

TEST_F(LoadingTest, TruncatedAnywhere) {
  const std::string file = Checkpoint(kConvBert).File();
  for (size_t size = 0; size < file.size(); size += size < 200 ? 7 : 1801) {
    const auto model = LoadModel(kConvBert.Config(), file.substr(0, size), kConvBert.Options(), *backend_);
    EXPECT_EQ(model.status().code(), StatusCode::kTruncatedFile) << size << ": " << model.status().message();
  }
}

TEST_F(LoadingTest, CorruptedHeader) {
  std::string file = Checkpoint(kConvBert).File();
  file[9] = '\x01';
  ExpectStatus(LoadModel(kConvBert.Config(), file, kConvBert.Options(), *backend_).status(), StatusCode::kMalformedFile,
               "safetensors header");
}

TEST_F(LoadingTest, EveryMissingAndMisshapenTensorInOneMessage) {
  Checkpoint checkpoint(kConvBert);
  checkpoint.Remove("convbert.encoder.layer.0.attention.self.query.weight");
  checkpoint.Remove("convbert.encoder.layer.1.output.LayerNorm.bias");
  TensorInfo& misshapen = checkpoint.Find("convbert.encoder.layer.1.intermediate.dense.weight");
  std::swap(misshapen.shape[0], misshapen.shape[1]);
  const Status status = LoadStatus(checkpoint);
  ExpectStatus(status, StatusCode::kMissingTensor, "encoder.layer.0.attention.self.query.weight [16, 32]");
  ExpectStatus(status, StatusCode::kMissingTensor, "encoder.layer.1.output.LayerNorm.bias [32]");
  ExpectStatus(status, StatusCode::kMissingTensor,
               "convbert.encoder.layer.1.intermediate.dense.weight [32, 48] instead of [48, 32]");
}

// DataParallel, torch.compile and some trainers save such prefixes.
TEST_F(LoadingTest, AWrapperBeforeEveryNameIsLeftOut) {
  for (const char* wrapper : {"module.", "_orig_mod.", "model."}) {
    Checkpoint checkpoint(kConvBert);
    for (TensorInfo& tensor : checkpoint.tensors) tensor.name = wrapper + tensor.name;
    const Status status = LoadStatus(checkpoint);
    EXPECT_TRUE(status.ok()) << status.message();
    checkpoint.tensors[0].name = checkpoint.tensors[0].name.substr(std::string_view(wrapper).size());
    EXPECT_FALSE(LoadStatus(checkpoint).ok()) << "only one name lacks the wrapper";
  }
}

TEST_F(LoadingTest, OfManyMissingTensorsTheFirstFewAreNamed) {
  Checkpoint checkpoint(kConvBert);
  for (const char* part : {"query", "key", "value", "key_conv_attn_layer.depthwise"}) {
    for (const char* layer : {"0", "1"}) {
      checkpoint.Remove(std::string("convbert.encoder.layer.") + layer + ".attention.self." + part + ".weight");
    }
  }
  const Status status = LoadStatus(checkpoint);
  ExpectStatus(status, StatusCode::kMissingTensor,
               "tensors missing: encoder.layer.0.attention.self.query.weight [16, 32]");
  ExpectStatus(status, StatusCode::kMissingTensor, " and 5 more");
  EXPECT_EQ(status.message().find("encoder.layer.1.attention.self.value"), std::string::npos) << status.message();
}

TEST_F(LoadingTest, OfManyTensorsThoseOfTheFirstKindAreNamed) {
  Checkpoint checkpoint(kConvBert);
  for (const char* part : {"query", "key", "value"}) {
    checkpoint.Remove(std::string("convbert.encoder.layer.0.attention.self.") + part + ".weight");
  }
  checkpoint.Find("convbert.encoder.layer.1.intermediate.dense.weight").shape = {32, 48};
  const Status status = LoadStatus(checkpoint);
  ExpectStatus(status, StatusCode::kMissingTensor, "; of another shape: 1");
  EXPECT_EQ(status.message().find("intermediate"), std::string::npos) << status.message();
}

TEST_F(LoadingTest, WrongShapeAlone) {
  Checkpoint checkpoint(kDeberta);
  checkpoint.Find("deberta.encoder.rel_embeddings.weight").shape = {32, 16};
  ExpectStatus(LoadStatus(checkpoint), StatusCode::kShapeMismatch, "[32, 16] instead of [16, 32]");
}

TEST_F(LoadingTest, WeightsThatAreNotFloats) {
  Checkpoint checkpoint(kDeberta);
  checkpoint.Find("deberta.embeddings.LayerNorm.bias").dtype_name = "I16";
  ExpectStatus(LoadStatus(checkpoint), StatusCode::kUnsupported, "deberta.embeddings.LayerNorm.bias I16");
}

// For every kind of tensor. Chunks of 1 byte split elements, chunks of 997 bytes split rows.
TEST_F(LoadingTest, WeightsThatAreNotFiniteAreRefusedByName) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const auto expect = [&](const GoldenCase& golden, const std::string& name) {
    for (const std::string dtype : {"F32", "F16", "BF16"}) {
      for (const Precision precision : {Precision::kF32, Precision::kF16, Precision::kQ8}) {
        for (const float value : {kNaN, kInfinity, -kInfinity}) {
          Checkpoint checkpoint(golden);
          checkpoint.options.precision = precision;
          const std::string file = checkpoint.FileWith({{name, value}}, dtype);
          const size_t chunk = value > 0 ? 1 : 997;
          const auto model = LoadModel(checkpoint.config, file, checkpoint.options, *backend_, chunk);
          ExpectStatus(model.status(), StatusCode::kMalformedFile, "\"" + name + "\" holds NaN or infinity");
        }
      }
    }
  };
  expect(kConvBert, "convbert.embeddings.word_embeddings.weight");
  expect(kConvBert, "convbert.embeddings.LayerNorm.weight");
  expect(kConvBert, "convbert.encoder.layer.1.intermediate.dense.weight");
  expect(kConvBert, "convbert.encoder.layer.1.intermediate.dense.bias");
  expect(kConvBert, "convbert.encoder.layer.0.attention.self.key_conv_attn_layer.depthwise.weight");
  expect(kDeberta, "deberta.encoder.rel_embeddings.weight");
}

// The largest float as bias, and a weight that adds to it or subtracts from it: one of the sums is infinite.
TEST_F(LoadingTest, ARunThatOverflowsIsAnError) {
  int overflows = 0;
  for (const float weight : {3e38f, -3e38f}) {
    Checkpoint checkpoint(kConvBert);
    const std::string file = checkpoint.FileWith(
        {{"classifier.out_proj.bias", std::numeric_limits<float>::max()}, {"classifier.out_proj.weight", weight}},
        "F32");
    auto loaded = LoadModel(checkpoint.config, file, checkpoint.options, *backend_);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    const std::vector<int32_t> ids = {2, 7, 11, 5};
    const ModelInput input = {ids, {}};
    ASSERT_TRUE((*loaded)->Begin({&input, 1}).ok());
    const Status status = (*loaded)->Finish();
    if (status.ok()) continue;
    ++overflows;
    ExpectStatus(status, StatusCode::kUnsupported, "logits are not finite");
  }
  EXPECT_EQ(overflows, 1);
}

TEST_F(LoadingTest, AMissingHeadIsNamed) {
  Checkpoint checkpoint(kConvBert);
  checkpoint.options.head = Head::kQuestionAnswering;
  ExpectStatus(LoadStatus(checkpoint), StatusCode::kMissingHead, "question answering: qa_outputs.weight [2, 32]");
  checkpoint.options.head = Head::kTokenClassification;
  ExpectStatus(LoadStatus(checkpoint), StatusCode::kMissingHead, "ConvBertForSequenceClassification");
  checkpoint.options.head = Head::kReplacedTokenDetection;
  ExpectStatus(LoadStatus(checkpoint), StatusCode::kUnsupported, "replaced-token detection");
}

TEST_F(LoadingTest, AnotherArchitecture) {
  Checkpoint checkpoint(kConvBert);
  checkpoint.ReplaceInConfig("\"convbert\"", "\"gpt2\"");
  ExpectStatus(LoadStatus(checkpoint), StatusCode::kUnsupported, "\"gpt2\"");
  checkpoint.config = kDeberta.Config();
  ExpectStatus(LoadStatus(checkpoint), StatusCode::kMissingTensor, "embeddings.LayerNorm.bias [32] and 35 more");
}

TEST_F(LoadingTest, ExtraTensorsAreNamedAndIgnored) {
  Checkpoint checkpoint(kConvBert);
  TensorInfo extra = checkpoint.tensors[0];
  extra.name = "optimizer.step";
  checkpoint.tensors.push_back(extra);
  const auto model = checkpoint.LoadOnly(*backend_);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const LoadReport& report = (*model)->report;
  EXPECT_EQ(report.extra_tensors, std::vector<std::string>{"optimizer.step"});
  EXPECT_EQ(report.tensors_used + 1, static_cast<int32_t>(checkpoint.tensors.size()));
  EXPECT_EQ(report.head_tensors, (std::vector<std::string>{"classifier.dense.weight", "classifier.dense.bias",
                                                           "classifier.out_proj.weight", "classifier.out_proj.bias"}));
  EXPECT_GT(report.weight_bytes, 0);
}

TEST_F(LoadingTest, LegacyNamesAndNoPrefix) {
  auto model = Checkpoint(kConvBert).Load(*backend_);
  ASSERT_TRUE(model.ok());
  const std::vector<float> expected = Logits(**model);

  Checkpoint renamed(kConvBert);
  renamed.ReplaceInNames("convbert.", "");
  renamed.ReplaceInNames("LayerNorm.weight", "LayerNorm.gamma");
  renamed.ReplaceInNames("LayerNorm.bias", "LayerNorm.beta");
  auto same = renamed.Load(*backend_);
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_EQ(Logits(**same), expected);

  Checkpoint spelled(kConvBert);
  spelled.ReplaceInConfig("\"convbert\"", "\"conv_bert\"");
  spelled.ReplaceInNames("convbert.", "conv_bert.");
  auto other = spelled.Load(*backend_);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_EQ(Logits(**other), expected);

  TensorInfo twice = renamed.tensors[0];
  twice.name = "convbert." + twice.name;
  renamed.tensors.push_back(twice);
  ExpectStatus(LoadStatus(renamed), StatusCode::kMalformedFile, "two tensors");
}

struct Shards {
  explicit Shards(const Checkpoint& checkpoint) {
    std::string map;
    for (size_t i = 0; i < checkpoint.tensors.size(); ++i) {
      const std::string file = i % 2 == 0 ? "model-1.safetensors" : "model-2.safetensors";
      map += (map.empty() ? "" : ",") + ("\"" + checkpoint.tensors[i].name + "\":\"" + file + "\"");
    }
    index = "{\"metadata\":{},\"weight_map\":{" + map + "}}";
    const auto half = [&](size_t parity) {
      return checkpoint.File(
          [&](const TensorInfo& t) { return static_cast<size_t>(&t - checkpoint.tensors.data()) % 2 == parity; });
    };
    files = {half(0), half(1)};
  }
  std::string index;
  std::vector<std::string> files;
};

TEST_F(LoadingTest, ShardsGiveTheSameModel) {
  const Checkpoint checkpoint(kDeberta);
  auto whole = checkpoint.Load(*backend_);
  ASSERT_TRUE(whole.ok());
  const Shards shards(checkpoint);
  auto loader = ModelLoader::Create(checkpoint.config, checkpoint.options, *backend_);
  ASSERT_TRUE(loader.ok());
  auto files = (*loader)->SetShardIndex(shards.index);
  ASSERT_TRUE(files.ok()) << files.status().message();
  EXPECT_EQ(*files, (std::vector<std::string>{"model-1.safetensors", "model-2.safetensors"}));
  ASSERT_TRUE((*loader)->Feed(Bytes(shards.files[0])).ok());
  ASSERT_TRUE((*loader)->EndShard().ok());
  ASSERT_TRUE((*loader)->Feed(Bytes(shards.files[1])).ok());
  ASSERT_TRUE((*loader)->EndShard().ok());
  const auto model = (*loader)->Finish();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(Logits(*CreateRunner(*model)), Logits(**whole));
}

TEST_F(LoadingTest, BadShards) {
  const Checkpoint checkpoint(kDeberta);
  const Shards shards(checkpoint);
  const auto fresh = [&] { return ModelLoader::Create(checkpoint.config, checkpoint.options, *backend_).value(); };
  ExpectStatus(fresh()->SetShardIndex("{}").status(), StatusCode::kMalformedFile, "weight_map");
  ExpectStatus(fresh()->SetShardIndex(R"({"weight_map":{"a":"../b"}})").status(), StatusCode::kMalformedFile,
               "plain name");
  ExpectStatus(fresh()->SetShardIndex(R"({"weight_map":{"a":"b"}})").status(), StatusCode::kMissingTensor,
               "embeddings.LayerNorm.bias [32] and 35 more");

  auto half = fresh();
  ASSERT_TRUE(half->SetShardIndex(shards.index).ok());
  ASSERT_TRUE(half->Feed(Bytes(shards.files[0])).ok());
  ExpectStatus(half->Finish().status(), StatusCode::kMissingTensor, "no file has");

  auto twice = fresh();
  ASSERT_TRUE(twice->SetShardIndex(shards.index).ok());
  ASSERT_TRUE(twice->Feed(Bytes(shards.files[0])).ok());
  ASSERT_TRUE(twice->EndShard().ok());
  ExpectStatus(twice->Feed(Bytes(shards.files[0])), StatusCode::kMalformedFile, "two files");

  auto torn = fresh();
  ASSERT_TRUE(torn->SetShardIndex(shards.index).ok());
  ASSERT_TRUE(torn->Feed(Bytes(shards.files[0].substr(0, shards.files[0].size() - 1))).ok());
  ExpectStatus(torn->EndShard(), StatusCode::kTruncatedFile, "within tensor");
}

// DeBERTa's own position projections are only needed to fold the table.
TEST_F(LoadingTest, FoldedProjectionsAreNotHeld) {
  const auto held = [&](const char* name) {
    const auto model = Checkpoint({name, "DebertaV2ForSequenceClassification", "", 0}).LoadOnly(*backend_);
    EXPECT_TRUE(model.ok());
    return (*model)->report.weight_bytes;
  };
  const int64_t shared = held("deberta-v2-sequence");
  EXPECT_GT(shared, 0);
  EXPECT_EQ(held("deberta-v2-own-keys"), shared);
}

TEST_F(LoadingTest, BadInputsLeaveTheModelUsable) {
  auto loaded = Checkpoint(kConvBert).Load(*backend_);
  ASSERT_TRUE(loaded.ok());
  Runner& model = **loaded;
  const std::vector<float> expected = Logits(model);
  const auto begin = [&](const std::vector<int32_t>& ids, const std::vector<int32_t>& types) {
    const ModelInput input = {ids, types};
    return model.Begin({&input, 1});
  };
  ExpectStatus(begin({}, {}), StatusCode::kEmptyText, "text 0");
  ExpectStatus(begin({1, -1}, {}), StatusCode::kInvalidArgument, "-1");
  ExpectStatus(begin({1, 1000000}, {}), StatusCode::kInvalidArgument, "1000000");
  ExpectStatus(begin({1, 2}, {0}), StatusCode::kInvalidArgument, "type ids");
  ExpectStatus(begin({1, 2}, {0, 2}), StatusCode::kInvalidArgument, "type id 2");
  const auto positions = static_cast<size_t>(model.config().max_position_embeddings);
  EXPECT_TRUE(begin(std::vector<int32_t>(positions, 1), {}).ok());
  ExpectStatus(begin(std::vector<int32_t>(positions + 1, 1), {}), StatusCode::kTextTooLong,
               std::to_string(positions + 1) + " tokens");
  ExpectStatus(model.Begin({}), StatusCode::kInvalidArgument, "no texts");
  EXPECT_EQ(Logits(model), expected);
}

TEST_F(LoadingTest, ABatchThatNoMemoryCouldHoldIsRefused) {
  auto loaded = Checkpoint(kDeberta).Load(*backend_);
  ASSERT_TRUE(loaded.ok());
  const std::vector<int32_t> ids(5000000, 1);  // relative positions do not limit the length
  const ModelInput input = {ids, {}};
  ExpectStatus((*loaded)->Begin({&input, 1}), StatusCode::kOutOfMemory, "5000000 tokens");
}

TEST_F(LoadingTest, AnErrorOfLoadingSticks) {
  auto loader = ModelLoader::Create(kConvBert.Config(), kConvBert.Options(), *backend_);
  ASSERT_TRUE(loader.ok());
  ASSERT_EQ((*loader)->Finish().status().code(), StatusCode::kTruncatedFile);
  EXPECT_EQ((*loader)->Feed(Bytes(kConvBert.Weights())).code(), StatusCode::kTruncatedFile);
  EXPECT_EQ((*loader)->EndShard().code(), StatusCode::kTruncatedFile);
  EXPECT_EQ((*loader)->Finish().status().code(), StatusCode::kTruncatedFile);
}

// Notices of a masked LM or a bare encoder whose file has one more tensor.
std::vector<std::string> NoticesWith(Backend& backend, const GoldenCase& golden, const std::string& name,
                                     const std::function<std::vector<float>(const std::vector<float>& words)>& values) {
  const Checkpoint base(golden);
  TensorRecorder recorder;
  EXPECT_TRUE(ParseInChunks<WeightsParser>(base.File(), recorder).ok());
  SafetensorsWriter writer;
  std::vector<int64_t> shape;
  std::vector<float> words;
  for (size_t i = 0; i < recorder.tensors.size(); ++i) {
    const TensorInfo& info = recorder.tensors[i];
    std::vector<float> numbers(recorder.bytes[i].size() / static_cast<size_t>(DTypeSize(*info.dtype)));
    ConvertToFloat(*info.dtype, Bytes(recorder.bytes[i]), numbers);
    writer.Add(info.name, info.shape, numbers);
    if (info.name.ends_with("word_embeddings.weight")) shape = info.shape, words = numbers;
  }
  EXPECT_FALSE(words.empty());
  writer.Add(name, shape, values(words));
  const auto loaded = LoadWeights(base.config, writer.File(), base.options, backend);
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
  return loaded.ok() ? (*loaded)->report.notices : std::vector<std::string>();
}

TEST_F(LoadingTest, ADecoderOtherThanTheTiedEmbeddingsIsANotice) {
  const GoldenCase tied = {"bert-masked-lm", "BertForMaskedLM", "of the class", 0};
  const std::string decoder = "cls.predictions.decoder.weight";
  const auto same = [](const std::vector<float>& words) { return words; };
  const auto other = [](std::vector<float> words) {
    words[5] += 1;
    return words;
  };
  EXPECT_TRUE(NoticesWith(*backend_, tied, decoder, same).empty());
  const std::vector<std::string> notices = NoticesWith(*backend_, tied, decoder, other);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("tie_word_embeddings"), std::string::npos) << notices[0];
}

TEST_F(LoadingTest, WeightsThatAreNotReadAreANoticeUnlessAHeadHasThem) {
  const GoldenCase bare = {"bert-sequence", "BertModel", "of the class", 0};
  const auto same = [](const std::vector<float>& words) { return words; };
  for (const char* known : {"cls.predictions.decoder.weight", "bert.embeddings.position_ids", "qa_outputs.weight",
                            "cls.seq_relationship.weight"}) {
    EXPECT_TRUE(NoticesWith(*backend_, bare, known, same).empty()) << known;
  }
  const std::vector<std::string> notices = NoticesWith(*backend_, bare, "bert.encoder.layer.0.adapter.weight", same);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].find("bert.encoder.layer.0.adapter.weight"), std::string::npos) << notices[0];
}

// The layer after the encoder of Stanford's ColBERT.
TEST_F(LoadingTest, ALayerAfterTheEncoderIsAnErrorForFeatures) {
  Checkpoint checkpoint({"bert-sequence", "BertModel", "of the class", 0});
  checkpoint.options.head = Head::kNone;
  checkpoint.Find("classifier.weight").name = "linear.weight";
  ExpectStatus(LoadStatus(checkpoint), StatusCode::kUnsupported, "linear.");
}

}  // namespace
}  // namespace peruse::testing
