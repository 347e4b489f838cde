// Explanations, and the plan of a training, through the session that hosts call. attribution_test.cc compares the scores with Captum's.
#include "core/train/session/teach_session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "core/base/json.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/session_testing.h"
#include "tests/native/train/sentence_classifier.h"

namespace peruse::train {
namespace {

using peruse::testing::Bytes;
using peruse::testing::ReadFixture;

using Files = std::map<std::string, std::string>;

constexpr double kTolerance = 1e-4;  // float32 rounding of a few scores

Files SentenceFolder() {
  const auto module = [](const char* index, const char* name, const char* folder, const char* type) {
    return std::string("{\"idx\":") + index + ",\"name\":\"" + name + "\",\"path\":\"" + folder +
           "\",\"type\":\"sentence_transformers.models." + type + "\"}";
  };
  return {
      {"modules.json", "[" + module("0", "0", "", "Transformer") + "," + module("1", "1", "1_Pooling", "Pooling") +
                           "," + module("2", "2", "2_Normalize", "Normalize") + "," +
                           module("3", "classifier", "3_Dense", "Dense") + "]"},
      {"1_Pooling/config.json", R"({"word_embedding_dimension":32,"pooling_mode_mean_tokens":true})"},
      {"3_Dense/config.json",
       R"({"in_features":32,"out_features":3,"activation_function":"torch.nn.modules.linear.Identity"})"},
      {"3_Dense/model.safetensors", testing::SentenceClassifier(32)},
  };
}

// Opens a tiny checkpoint. The words of its texts are a0 to a42.
Status Open(TeachSession& session, const std::string& name, const std::string& task, const Files& files = {},
            const std::string& options = R"("explains":true)") {
  const std::string folder = "tiny/" + name + "/";
  PERUSE_RETURN_IF_ERROR(session.AddFile("config.json", ReadFixture(folder + "config.json")));
  PERUSE_RETURN_IF_ERROR(session.AddFile("vocab.txt", Vocabulary()));
  for (const auto& [path, content] : files) PERUSE_RETURN_IF_ERROR(session.AddFile(path, content));
  PERUSE_RETURN_IF_ERROR(session.Open(R"({"task":")" + task + "\"," + options + "}"));
  PERUSE_RETURN_IF_ERROR(session.FeedWeights(Bytes(ReadFixture(folder + "model.safetensors"))));
  return session.FinishWeights().status();
}

std::string Refusal(TeachSession& session, const std::string& request) {
  return Describe(session.Explain(request).status());
}

struct Explained {
  double value = 0, baseline_value = 0, sum = 0;
  std::string tokens;  // "start-end sequence", separated by commas; "-" means a special token
};

Explained Explain(TeachSession& session, const std::string& request) {
  const Result<std::string> json = session.Explain(request);
  EXPECT_TRUE(json.ok()) << json.status().message();
  if (!json.ok()) return {};
  const JsonDocument document = JsonDocument::Parse(*json, "the explanation").value();
  const JsonValue root = document.root();
  Explained found = {.value = root.FindMember("value").GetDouble().value(),
                     .baseline_value = root.FindMember("baseline_value").GetDouble().value()};
  for (const JsonValue token : root.FindMember("tokens")) {
    const auto number = [&](const char* name) { return std::to_string(token.FindMember(name).GetInt64().value()); };
    const bool special = token.FindMember("sequence").IsNull();
    found.tokens += (found.tokens.empty() ? "" : ",") +
                    (special ? "-" : number("start") + "-" + number("end") + " " + number("sequence"));
    found.sum += token.FindMember("score").GetDouble().value();
  }
  return found;
}

void ExpectComplete(const Explained& found) {
  EXPECT_NEAR(found.sum, found.value - found.baseline_value, kTolerance);
  EXPECT_GT(std::fabs(found.value - found.baseline_value), 100 * kTolerance);
}

TEST(TeachSessionExplain, ALogitIsDividedAmongTheTokensOfAText) {
  TeachSession session;
  ASSERT_EQ(Describe(Open(session, "bert-sequence", "text-classification")), "ok: ");
  const Explained found = Explain(session, R"({"text":"a1 a12  a30","label":"LABEL_2","steps":100})");
  EXPECT_EQ(found.tokens, "-,0-2 0,3-6 0,8-11 0,-");
  ExpectComplete(found);
  const Explained pair = Explain(session, R"({"text":"a1 a12","pair":"a30 a5","label":"LABEL_0","steps":100})");
  EXPECT_EQ(pair.tokens, "-,0-2 0,3-6 0,-,0-3 1,4-6 1,-");
  ExpectComplete(pair);
}

TEST(TeachSessionExplain, AnAnswerIsDividedAmongQuestionAndContext) {
  TeachSession session;
  ASSERT_EQ(Describe(Open(session, "bert-question", "question-answering")), "ok: ");
  const Explained found =
      Explain(session, R"({"question":"a1","context":"a5 a20 a9","answer":{"start":3,"end":9},"steps":100})");
  EXPECT_EQ(found.tokens, "-,0-2 0,-,0-2 1,3-6 1,7-9 1,-");
  ExpectComplete(found);
}

TEST(TeachSessionExplain, AClassifierOfSentenceVectorsIsExplained) {
  TeachSession session;
  ASSERT_EQ(Describe(Open(session, "bert-sequence", "text-classification", SentenceFolder())), "ok: ");
  const Explained found = Explain(session, R"({"text":"a1 a12 a30","label":"LABEL_1","steps":100})");
  EXPECT_EQ(found.tokens, "-,0-2 0,3-6 0,7-10 0,-");
  ExpectComplete(found);

  TeachSession own;
  ASSERT_TRUE(Open(own, "bert-sequence", "text-classification").ok());
  EXPECT_NE(Explain(own, R"({"text":"a1 a12 a30","label":"LABEL_1"})").value, found.value);
}

TEST(TeachSessionExplain, AClassifierOfSentenceVectorsNeedsItsWeights) {
  Files files = SentenceFolder();
  files.erase("3_Dense/model.safetensors");
  TeachSession without;
  ASSERT_TRUE(Open(without, "bert-sequence", "text-classification", files).ok());
  EXPECT_EQ(Refusal(without, R"({"text":"a1","label":"LABEL_1"})"),
            "missing_head: the checkpoint has no weights for sentence_classifier.weight");
  files["3_Dense/model.safetensors"] = testing::SentenceClassifier(31);
  TeachSession narrow;
  const Status status = Open(narrow, "bert-sequence", "text-classification", files);
  EXPECT_EQ(status.code(), StatusCode::kShapeMismatch) << status.message();
}

// Without such a classifier the modules only compute vectors, and the checkpoint's own head is explained.
TEST(TeachSessionExplain, ModulesWithoutAClassifierAreIgnored) {
  Files files = SentenceFolder();
  files["modules.json"] = R"([{"idx":0,"name":"0","path":"","type":"sentence_transformers.models.Transformer"},
    {"idx":1,"name":"1","path":"1_Pooling","type":"sentence_transformers.models.Pooling"}])";
  TeachSession session, own;
  ASSERT_TRUE(Open(session, "bert-sequence", "text-classification", files).ok());
  ASSERT_TRUE(Open(own, "bert-sequence", "text-classification").ok());
  const char* request = R"({"text":"a1 a12 a30","label":"LABEL_1"})";
  EXPECT_EQ(Explain(session, request).value, Explain(own, request).value);
}

TEST(TeachSessionExplain, RefusesWhatItCannotExplain) {
  TeachSession session;
  EXPECT_EQ(Refusal(session, "{}"), "invalid_argument: explain was called out of order");
  ASSERT_TRUE(Open(session, "bert-sequence", "text-classification").ok());
  EXPECT_EQ(Refusal(session, "{}"), "invalid_argument: there is no text to explain");
  EXPECT_EQ(Refusal(session, R"({"text":" ","label":"LABEL_1"})"),
            "empty_text: the input has no text: it is empty or only white space");
  EXPECT_EQ(Refusal(session, R"({"text":"a1","label":"x"})"),
            "invalid_argument: the model has no label \"x\" to explain");
  EXPECT_EQ(Refusal(session, R"({"text":"a1","label":"LABEL_1","steps":10001})"),
            "invalid_argument: option steps must be at most 10000");
  std::string words;
  for (int i = 0; i < 100; ++i) words += "a1 ";
  EXPECT_EQ(session.Explain(R"({"text":")" + words + R"(","label":"LABEL_1"})").status().code(),
            StatusCode::kTextTooLong);
  TeachSession tagger;
  EXPECT_EQ(Describe(Open(tagger, "bert-token", "token-classification")),
            "unsupported: gradients explain text classification and question answering, not token-classification");
  TeachSession teacher;
  ASSERT_TRUE(teacher.AddFile("config.json", ReadFixture("tiny/bert-sequence/config.json")).ok());
  ASSERT_TRUE(teacher.AddFile("vocab.txt", Vocabulary()).ok());
  ASSERT_TRUE(teacher.Open(R"({"task":"text-classification"})").ok());
  ASSERT_TRUE(teacher.FeedWeights(Bytes(ReadFixture("tiny/bert-sequence/model.safetensors"))).ok());
  ASSERT_TRUE(teacher.FinishWeights().ok());
  EXPECT_EQ(Refusal(teacher, R"({"text":"a1"})"), "invalid_argument: the session was not opened to explain");
}

std::string ExamplesOf(const std::string& set, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) {
    list += (i == 0 ? "" : ",") + (R"({"text":"a1 a)" + std::to_string(i)) + R"(","label":"LABEL_)" +
            std::to_string(i % 3) + "\"}";
  }
  return R"({"set":")" + set + R"(","examples":[)" + list + "]}";
}

struct Planned {
  int64_t examples = 0, validation_examples = 0;
};

// The plan for 42 examples, and `own` examples for validation.
Planned Plan(const std::string& split, int own) {
  TeachSession session;
  EXPECT_EQ(Describe(Open(session, "bert-sequence", "text-classification", {},
                          R"("method":"head","validation_split":)" + split)),
            "ok: ");
  EXPECT_TRUE(session.AddExamples(ExamplesOf("training", 42)).ok());
  if (own > 0) EXPECT_TRUE(session.AddExamples(ExamplesOf("validation", own)).ok());
  const Result<std::string> json = session.Begin();
  EXPECT_TRUE(json.ok()) << json.status().message();
  if (!json.ok()) return {};
  const JsonDocument document = JsonDocument::Parse(*json, "the plan").value();
  const auto number = [&](const char* name) { return document.root().FindMember(name).GetInt64().value(); };
  return {number("examples"), number("validation_examples")};
}

TEST(TeachSessionBegin, HoldsOutAShareOfTheExamplesUnlessThereAreOthersForValidation) {
  const Planned all = Plan("0", 0);
  EXPECT_EQ(all.examples, 42);
  EXPECT_EQ(all.validation_examples, 0);
  const Planned held = Plan("0.3", 0);
  EXPECT_EQ(held.examples + held.validation_examples, 42);
  EXPECT_NEAR(static_cast<double>(held.validation_examples), 0.3 * 42, 2);
  const Planned own = Plan("0.3", 6);
  EXPECT_EQ(own.examples, 42);
  EXPECT_EQ(own.validation_examples, 6);
}

}  // namespace
}  // namespace peruse::train
