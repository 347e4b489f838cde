#include <gtest/gtest.h>

#include <algorithm>

#include "core/backend/reference/reference_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/session_testing.h"

namespace peruse {
namespace {

using testing::BackendsUnderTest;
using testing::Bytes;
using testing::ReadFixture;

constexpr std::string_view kOpenClassifier = R"({"task":"text-classification"})";

struct Checkpoint {
  std::string config = ReadFixture("tiny/convbert-sequence/config.json");
  std::string vocabulary = Vocabulary();
  std::string weights = ReadFixture("tiny/convbert-sequence/model.safetensors");
};

std::string Load(Session& session, const Checkpoint& checkpoint, std::string_view open = kOpenClassifier,
                 size_t chunk = 4096) {
  Status status = session.AddFile("config.json", checkpoint.config);
  if (status.ok()) status = session.AddFile("vocab.txt", checkpoint.vocabulary);
  if (status.ok()) status = session.Open(open);
  const std::span<const uint8_t> weights = Bytes(checkpoint.weights);
  for (size_t at = 0; status.ok() && at < weights.size(); at += chunk) {
    status = session.FeedWeights(weights.subspan(at, std::min(chunk, weights.size() - at)));
  }
  if (!status.ok()) return Describe(status);
  const Result<std::string> report = session.FinishWeights();
  return report.ok() ? "ok" : Describe(report.status());
}

std::string LoadFresh(const Checkpoint& checkpoint, std::string_view open = kOpenClassifier) {
  Session session(CreateReferenceBackend());
  return Load(session, checkpoint, open);
}

TEST(Session, RefusesATokenizerOfMoreTokensThanTheModel) {
  for (const auto& [extra, expected] : {std::pair{0, "ok"}, std::pair{1, "shape_mismatch"}}) {
    Checkpoint checkpoint;
    for (int i = 0; i < extra; ++i) checkpoint.vocabulary += "more" + std::to_string(i) + "\n";
    const auto backends = BackendsUnderTest();
    Session session(backends[0].create());
    const std::string result = Load(session, checkpoint);
    EXPECT_EQ(result.substr(0, result.find(':')), expected) << result;
    if (extra > 0)
      EXPECT_NE(result.find("up to 48 and the model has embeddings for 48 tokens"), std::string::npos) << result;
  }
}

TEST(Session, LendsItsTokenizerOnceTheWeightsAreThere) {
  Session session(CreateReferenceBackend());
  EXPECT_EQ(session.Tokenize().status().code(), StatusCode::kInvalidArgument);
  ASSERT_EQ(Load(session, Checkpoint()), "ok");
  Result<TokenizerSession> tokenizer = session.Tokenize();
  ASSERT_TRUE(tokenizer.ok()) << Describe(tokenizer.status());
  const Result<size_t> count = tokenizer->Count(R"({"text":"a1 a7 a3"})");
  ASSERT_TRUE(count.ok()) << Describe(count.status());
  EXPECT_EQ(*count, 5);
  const Result<std::string> text = tokenizer->Decode(R"({"ids":[6,7],"skip_special_tokens":true})");
  ASSERT_TRUE(text.ok()) << Describe(text.status());
  EXPECT_EQ(*text, R"("a1 a2")");
  // The first window is the text, truncated to the positions in config.json.
  std::string words;
  for (int i = 0; i < 2000; ++i) words += " a1";
  const Result<std::string> windows = tokenizer->Encode(R"({"text":")" + words + R"(","truncation":true})");
  ASSERT_TRUE(windows.ok()) << Describe(windows.status());
  EXPECT_TRUE(windows->starts_with("[64,")) << *windows;
}

TEST(Session, ClassifiesOnEveryBackendAlikeWhateverTheChunks) {
  constexpr std::string_view kRequest = R"({"inputs":[{"text":"a1 a7 a3"},{"text":"a2"}],"options":{"top_k":null}})";
  std::vector<std::string> results;
  for (const auto& backend : BackendsUnderTest()) {
    for (const size_t chunk : {size_t{1000003}, size_t{7}}) {
      Session session(backend.create());
      ASSERT_EQ(Load(session, Checkpoint(), kOpenClassifier, chunk), "ok") << backend.name;
      const std::string first = RunToEnd(session, kRequest);
      EXPECT_TRUE(first.starts_with(R"([{"input":0,"value":[{"label":"LABEL_)")) << first;
      EXPECT_EQ(first, RunToEnd(session, kRequest)) << "a second run differs on " << backend.name;
      results.push_back(first);
    }
  }
  const auto labels = [](const std::string& json) {
    std::string found;
    for (size_t at = json.find("LABEL_"); at != std::string::npos; at = json.find("LABEL_", at + 1))
      found += json[at + 6];
    return found;
  };
  for (const std::string& result : results) EXPECT_EQ(labels(result), labels(results[0]));
}

TEST(Session, ReportsWhatWasLoaded) {
  Session session(CreateReferenceBackend());
  const Checkpoint checkpoint;
  ASSERT_TRUE(session.AddFile("config.json", checkpoint.config).ok());
  ASSERT_TRUE(session.AddFile("vocab.txt", checkpoint.vocabulary).ok());
  ASSERT_TRUE(session.Open(kOpenClassifier).ok());
  ASSERT_TRUE(session.FeedWeights(Bytes(checkpoint.weights)).ok());
  const Result<std::string> report = session.FinishWeights();
  ASSERT_TRUE(report.ok());
  EXPECT_NE(report->find(R"("architecture":"ConvBertForSequenceClassification")"), std::string::npos) << *report;
  EXPECT_NE(report->find("classifier.out_proj.weight"), std::string::npos) << *report;
}

TEST(Session, CallsOutOfOrderAreRefusedAndChangeNothing) {
  Session session(CreateReferenceBackend());
  EXPECT_EQ(session.FeedWeights({}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.Start("{}").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.Take().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.FinishWeights().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Load(session, Checkpoint()), "ok");
  EXPECT_EQ(session.AddFile("config.json", "{}").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.Step().status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(RunToEnd(session, R"({"inputs":[{"text":"a1"}]})").starts_with("[{\"input\":0"));
}

TEST(Session, ARankersActivationStandsInThreePlaces) {
  const auto score = [](std::string_view config, std::string_view file) {
    Session session(CreateReferenceBackend());
    Checkpoint checkpoint;
    checkpoint.config.replace(checkpoint.config.find('{'), 1, "{" + std::string(config));
    EXPECT_TRUE(session.AddFile("modules.json", "[]").ok());  // without modules.json the settings file does not count
    EXPECT_TRUE(session.AddFile("config_sentence_transformers.json", file).ok());
    const std::string loaded = Load(session, checkpoint, R"({"task":"text-ranking"})");
    if (loaded != "ok") return loaded;
    return RunToEnd(session, R"({"inputs":[{"query":"a1","documents":["a2"]}],"options":{"label":"LABEL_0"}})");
  };
  const std::string identity = score(R"("sentence_transformers":{"activation_fn":"torch.Identity"},)", "{}");
  const std::string sigmoid = score(R"("sentence_transformers":{"activation_fn":"torch.Sigmoid"},)", "{}");
  EXPECT_NE(identity, sigmoid);
  EXPECT_EQ(score("", "{}"), identity) << "several labels";
  EXPECT_EQ(score(R"("sbert_ce_default_activation_function":"torch.Sigmoid",)", "{}"), sigmoid);
  // The newer file has priority.
  EXPECT_EQ(score(R"("sentence_transformers":{"activation_fn":"torch.Sigmoid"},)",
                  R"({"activation_fn":"torch.nn.modules.linear.Identity"})"),
            identity);
  EXPECT_TRUE(score("", "{").starts_with("malformed_file: config_sentence_transformers.json")) << score("", "{");
}

TEST(Session, ResultsThatAreNotFiniteAreAnError) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, Checkpoint()), "ok");
  const std::string result = RunToEnd(session, R"({"inputs":[{"text":"a1"}],"options":{"temperature":1e-45}})");
  EXPECT_TRUE(result.starts_with("unsupported: the model's results are not finite numbers")) << result;
  EXPECT_TRUE(RunToEnd(session, R"({"inputs":[{"text":"a1"}]})").starts_with("[{\"input\":0"));
}

TEST(Session, ARequestBeyondTheLimitIsRefusedAndTheNextRuns) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, Checkpoint()), "ok");
  const std::string large = R"({"inputs":[{"text":")" + std::string(size_t{33} << 20, 'a') + R"("}]})";
  const std::string result = RunToEnd(session, large);
  EXPECT_TRUE(result.starts_with("text_too_long: the texts of the call have 33 MB together")) << result;
  EXPECT_TRUE(RunToEnd(session, R"({"inputs":[{"text":"a1"}]})").starts_with("[{\"input\":0"));
}

TEST(Session, TheLastPartsEndTheRequest) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, Checkpoint()), "ok");
  ASSERT_TRUE(session.Start(R"({"inputs":[{"text":"a1"}]})").ok());
  EXPECT_EQ(session.Take().value(), "[]");
  ASSERT_TRUE(session.Step().ok());
  EXPECT_TRUE(session.Take().value().starts_with("[{"));
  EXPECT_EQ(session.Take().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.Step().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(session.tokens_read(), 3);
}

TEST(Session, CountsTheTokensOfAllRequests) {
  Session session(CreateReferenceBackend());
  EXPECT_EQ(session.tokens_read(), 0);
  ASSERT_EQ(Load(session, Checkpoint()), "ok");
  RunToEnd(session, R"({"inputs":[{"text":"a1 a2"},{"text":"a3"}]})");
  EXPECT_EQ(session.tokens_read(), 7);
  RunToEnd(session, R"({"inputs":[{"text":" "}]})");
  RunToEnd(session, R"({"inputs":[{"text":"a3"}]})");
  EXPECT_EQ(session.tokens_read(), 12);
}

TEST(Session, AFailedRunLeavesTheNextOneAlone) {
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, Checkpoint()), "ok");
  const std::string good = RunToEnd(session, R"({"inputs":[{"text":"a1"}]})");
  EXPECT_TRUE(RunToEnd(session, "{").starts_with("malformed_file")) << RunToEnd(session, "{");
  std::string long_text;
  for (int i = 0; i < 200; ++i) long_text += "a1 ";
  EXPECT_TRUE(RunToEnd(session, R"({"inputs":[{"text":")" + long_text + R"("}]})").starts_with("text_too_long"));
  EXPECT_TRUE(RunToEnd(session, R"({"inputs":[{"text":")" + long_text + R"("}],"options":{"truncation":true}})")
                  .starts_with("[{\"input\":0"));
  EXPECT_EQ(RunToEnd(session, R"({"inputs":[{"text":"a1"}]})"), good);
}

TEST(Session, ATruncatedFileIsSaidToBeTruncated) {
  Checkpoint checkpoint;
  const std::string whole = checkpoint.weights;
  for (const size_t length : {size_t{0}, size_t{5}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    checkpoint.weights = whole.substr(0, length);
    EXPECT_TRUE(LoadFresh(checkpoint).starts_with("truncated_file")) << length << ": " << LoadFresh(checkpoint);
  }
}

TEST(Session, BadFilesGiveOneClearErrorEach) {
  const auto expect = [](const Checkpoint& checkpoint, std::string_view code, std::string_view mention) {
    const std::string result = LoadFresh(checkpoint);
    EXPECT_TRUE(result.starts_with(code)) << result;
    EXPECT_NE(result.find(mention), std::string::npos) << result;
  };
  Checkpoint bad;
  bad.config = R"({"model_type": "llama"})";
  expect(bad, "unsupported", "llama");
  bad.config = R"({"model_type": )";
  expect(bad, "malformed_file", "config.json");

  bad = Checkpoint();
  bad.weights = "<!doctype html><title>Not found</title>";
  expect(bad, "malformed_file", "");

  bad = Checkpoint();  // the configuration requires a third layer
  bad.config.replace(bad.config.find("\"num_hidden_layers\": 2"), 22, "\"num_hidden_layers\": 3");
  expect(bad, "missing_tensor", "encoder.layer.2.");

  bad = Checkpoint();
  bad.config.replace(bad.config.find("\"intermediate_size\": 48"), 23, "\"intermediate_size\": 52");
  expect(bad, "shape_mismatch", "intermediate.dense.weight");

  bad = Checkpoint();
  bad.vocabulary.clear();
  expect(bad, "malformed_file", "vocab.txt");

  EXPECT_EQ(LoadFresh(Checkpoint()), "ok") << "and the library goes on working";
}

TEST(Session, WrongTasksAndPrecisionsAreRefusedByName) {
  const auto expect = [](std::string_view open, std::string_view code, std::string_view mention) {
    const std::string result = LoadFresh(Checkpoint(), open);
    EXPECT_TRUE(result.starts_with(code)) << result;
    EXPECT_NE(result.find(mention), std::string::npos) << result;
  };
  expect(R"({"task":"translation"})", "unsupported", "translation");
  expect(R"({"task":"question-answering"})", "missing_head", "question answering");
  expect(R"({"task":"text-classification","dtype":"q3"})", "invalid_argument", "q3");
  expect(R"({})", "invalid_argument", "task");
  expect("nonsense", "malformed_file", "request");
}

TEST(Session, MissingFilesAreNamed) {
  Session session(CreateReferenceBackend());
  const Status status = session.Open(kOpenClassifier);
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("config.json"), std::string::npos);
  Session no_vocabulary(CreateReferenceBackend());
  ASSERT_TRUE(no_vocabulary.AddFile("config.json", Checkpoint().config).ok());
  EXPECT_EQ(no_vocabulary.Open(kOpenClassifier).code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace peruse
