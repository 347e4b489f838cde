// Sessions of folders of sentence-transformers: vectors of texts and scores of pairs, compared with those of the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "core/backend/reference/reference_backend.h"
#include "tests/native/fixtures_dir.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/session_testing.h"

namespace peruse {
namespace {

using testing::Bytes;
using testing::ReadFixture;

// `others` are files that the folder lacks, or has with another text.
std::unique_ptr<Session> OpenSentenceFolder(const std::string& folder,
                                            const std::string& task = R"({"task":"feature-extraction"})",
                                            const std::map<std::string, std::string>& others = {}) {
  const std::filesystem::path root = FixturesDir() + "/" + folder;
  auto session = std::make_unique<Session>(CreateReferenceBackend());
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string path = std::filesystem::relative(entry.path(), root).generic_string();
    if (!entry.is_regular_file() || path == "model.safetensors" || others.contains(path)) continue;
    EXPECT_TRUE(session->AddFile(path, ReadFixture(folder + path)).ok());
  }
  for (const auto& [path, text] : others) EXPECT_TRUE(session->AddFile(path, text).ok());
  const Status opened = session->Open(task);
  EXPECT_TRUE(opened.ok()) << opened.message();
  EXPECT_TRUE(session->FeedWeights(Bytes(ReadFixture(folder + "model.safetensors"))).ok());
  EXPECT_TRUE(session->FinishWeights().ok());
  return session;
}

Result<std::vector<float>> Embed(Session& session, const std::string& text, const std::string& options) {
  PERUSE_RETURN_IF_ERROR(session.Start(R"({"inputs":[{"text":)" + text + R"(}],"options":)" + options + "}"));
  for (bool more = true; more;) {
    PERUSE_ASSIGN_OR_RETURN(more, session.Step());
  }
  PERUSE_RETURN_IF_ERROR(session.Take().status());
  const std::span<const float> vector = session.array(0);
  return std::vector<float>(vector.begin(), vector.end());
}

class SentenceSession : public ::testing::TestWithParam<const char*> {};

// texts.json contains vectors of sentence-transformers, with prompts, dimensions and too long texts.
TEST_P(SentenceSession, GivesTheVectorsOfTheLibrary) {
  auto session = OpenSentenceFolder("sentence/" + std::string(GetParam()) + "/");
  const std::string json = ReadFixture("sentence/" + std::string(GetParam()) + "/texts.json");
  const auto texts = JsonDocument::Parse(json);
  ASSERT_TRUE(texts.ok());
  for (JsonValue wanted : texts->root()) {
    std::string options = wanted.FindMember("options").ToString();
    options.insert(1, options == "{}" ? R"("pooling":"sentence")" : R"("pooling":"sentence",)");
    SCOPED_TRACE(options);
    const auto vector = Embed(*session, wanted.FindMember("text").ToString(), options);
    ASSERT_TRUE(vector.ok()) << vector.status().message();
    ASSERT_EQ(vector->size(), wanted.FindMember("vector").size());
    for (size_t i = 0; i < vector->size(); ++i) {
      EXPECT_NEAR((*vector)[i], *wanted.FindMember("vector")[i].GetDouble(), 1e-5) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SentenceSession,
                         ::testing::Values("mean", "cls", "max", "sqrt", "weighted", "last", "several", "dense-tanh",
                                           "dense-identity", "qwen3-embedding", "embedding-gemma", "eurobert-nano"),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

class RankingSession : public ::testing::TestWithParam<const char*> {};

// pairs.json contains logits of sentence-transformers' CrossEncoder, with prompts and texts that are cut.
TEST_P(RankingSession, GivesTheLogitsOfTheLibrary) {
  const std::string folder = "ranking/" + std::string(GetParam()) + "/";
  auto session = OpenSentenceFolder(folder, R"({"task":"text-ranking"})");
  const std::string json = ReadFixture(folder + "pairs.json");
  const auto pairs = JsonDocument::Parse(json);
  ASSERT_TRUE(pairs.ok());
  for (JsonValue pair : pairs->root()) {
    for (const char* function : {"none", ""}) {
      std::string options = pair.FindMember("options").ToString();
      SCOPED_TRACE(options + pair.FindMember("document").ToString());
      if (*function != 0) options.insert(1, R"("function_to_apply":"none")" + std::string(options == "{}" ? "" : ","));
      const std::string got =
          RunToEnd(*session, R"({"inputs":[{"query":)" + pair.FindMember("query").ToString() + R"(,"documents":[)" +
                                 pair.FindMember("document").ToString() + R"(]}],"options":)" + options + "}");
      const auto ranked = JsonDocument::Parse(got);
      ASSERT_TRUE(ranked.ok()) << got;
      const JsonValue score = ranked->root()[0].FindMember("value")[0].FindMember("score");
      ASSERT_TRUE(score.IsNumber()) << got;
      EXPECT_NEAR(*score.GetDouble(), *pair.FindMember(*function != 0 ? "logit" : "score").GetDouble(), 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, RankingSession,
                         ::testing::Values("qwen3-reranker", "qwen3-true-only", "qwen3-bare", "eurobert-dense"),
                         [](const ::testing::TestParamInfo<const char*>& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(SentenceSessionErrors, OptionsThatDoNotGoTogether) {
  auto session = OpenSentenceFolder("sentence/mean/");
  const auto error = [&](const std::string& options) {
    const auto vector = Embed(*session, R"("a b")", options);
    return vector.ok() ? "ok" : vector.status().message();
  };
  EXPECT_EQ(error(R"({"prompt":"a ","prompt_name":"query"})"), "prompt and prompt_name exclude each other");
  EXPECT_EQ(error(R"({"prompt_name":"nobody"})"),
            "the model has no prompt \"nobody\"; it has document, passage, query");
  EXPECT_EQ(error(R"({"pooling":"mean","prompt":"a "})"),
            "prompt, prompt_name and task need pooling \"sentence\", \"splade\" or \"multi_vector\"");
  EXPECT_EQ(error(R"({"dimensions":2})"), "option dimensions needs a pooling other than \"none\"");
  EXPECT_EQ(error(R"({"pooling":"mean","dimensions":9})"),
            "option dimensions is 9 and a vector has 8 numbers: use at most that many");
  EXPECT_EQ(error(R"({"layer":2})"), "option layer is 2 and the model has 1 layers: name one from -2 to 1");
  EXPECT_EQ(error(R"({"layer":-3})"), "option layer is -3 and the model has 1 layers: name one from -2 to 1");
}

TEST(SentenceSessionErrors, ARouterWithoutADefaultRouteNeedsARoleForMatricesToo) {
  const std::map<std::string, std::string> router = {
      {"modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                           {"path": "router", "type": "sentence_transformers.models.Router"}])"},
      {"router/router_config.json",
       R"({"types": {"mask": "sentence_transformers.multi_vector_encoder.modules.MultiVectorMask"},
           "structure": {"query": ["mask"], "document": ["mask"]}, "parameters": {"allow_empty_key": false}})"},
      {"router/mask/config.json", "{}"}};
  auto session = OpenSentenceFolder("sentence/mean/", R"({"task":"feature-extraction"})", router);
  EXPECT_TRUE(Embed(*session, R"("a b")", R"({"pooling":"multi_vector","task":"query"})").ok());
  EXPECT_EQ(Embed(*session, R"("a b")", R"({"pooling":"multi_vector"})").status().message(),
            "the model's Router has no default route: pass task, \"query\" or \"document\"");
}

// Compares the other poolings with the hidden states of the same call without pooling.
TEST(SentenceSessionErrors, PoolingsOfTheHiddenStates) {
  auto session = OpenSentenceFolder("sentence/mean/");
  for (const char* layer : {"0", "-1"}) {
    const std::string rest = R"(,"layer":)" + std::string(layer) + "}";
    const auto hidden = Embed(*session, R"("a b c d")", R"({"pooling":"none")" + rest);
    ASSERT_TRUE(hidden.ok()) << hidden.status().message();
    ASSERT_EQ(hidden->size() % 8, 0u);
    const size_t tokens = hidden->size() / 8;
    ASSERT_GE(tokens, 4u);
    const auto mean = Embed(*session, R"("a b c d")", R"({"pooling":"mean")" + rest);
    const auto most = Embed(*session, R"("a b c d")", R"({"pooling":"max")" + rest);
    const auto cls = Embed(*session, R"("a b c d")", R"({"pooling":"cls")" + rest);
    const auto two = Embed(*session, R"("a b c d")", R"({"pooling":"max","dimensions":2,"normalize":true)" + rest);
    ASSERT_TRUE(mean.ok() && most.ok() && cls.ok() && two.ok());
    for (size_t c = 0; c < 8; ++c) {
      double sum = 0;
      float largest = (*hidden)[c];
      for (size_t t = 0; t < tokens; ++t) {
        sum += double{(*hidden)[t * 8 + c]};
        largest = std::max(largest, (*hidden)[t * 8 + c]);
      }
      EXPECT_NEAR((*mean)[c], sum / static_cast<double>(tokens), 1e-6);
      EXPECT_EQ((*most)[c], largest);
      EXPECT_EQ((*cls)[c], (*hidden)[c]);
    }
    const double length = std::hypot((*most)[0], (*most)[1]);
    ASSERT_EQ(two->size(), 2u);
    for (size_t c = 0; c < 2; ++c) EXPECT_NEAR((*two)[c], (*most)[c] / length, 1e-6);
  }
}

}  // namespace
}  // namespace peruse
