#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/backend/reference/reference_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/session_testing.h"

namespace peruse {
namespace {

using testing::BackendsUnderTest;
using testing::Bytes;
using testing::ReadFixture;

constexpr double kTolerance = 2e-5;  // for probabilities; logits are exact to about 1e-5

std::string Load(Session& session, const std::string& variant, const std::string& config) {
  Status status = session.AddFile("config.json", config);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    if (status.ok()) status = session.AddFile(name, ReadFixture(std::string("gliclass/tokenizer/") + name));
    if (status.ok() && variant.starts_with("bi")) {
      status =
          session.AddFile(std::string("labels_tokenizer/") + name, ReadFixture(std::string("gliner/labels/") + name));
    }
  }
  if (status.ok()) status = session.Open(R"({"task":"zero-shot-classification"})");
  if (status.ok()) status = session.FeedWeights(Bytes(ReadFixture("gliclass/" + variant + "/model.safetensors")));
  if (!status.ok()) return Describe(status);
  const Result<std::string> report = session.FinishWeights();
  return report.ok() ? "ok" : Describe(report.status());
}

std::map<std::string, double> Scores(Session& session, JsonValue text, JsonValue labels, bool multi_label) {
  const std::string result = RunToEnd(session, "{\"inputs\":[{\"text\":" + text.ToString() +
                                                   "}],\"options\":{\"candidate_labels\":" + labels.ToString() +
                                                   ",\"multi_label\":" + (multi_label ? "true" : "false") + "}}");
  const std::string parts = LastParts(result);
  const Result<JsonDocument> document = JsonDocument::Parse(parts);
  EXPECT_TRUE(document.ok()) << result;
  if (!document.ok()) return {};
  const JsonValue value = document->root()[0].FindMember("value");
  std::map<std::string, double> scores;
  for (size_t i = 0; i < value.FindMember("labels").size(); ++i) {
    scores[value.FindMember("labels")[i].ToString()] = value.FindMember("scores")[i].GetDouble().value_or(-1);
  }
  return scores;
}

class GliClassTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GliClassTest, GivesTheScoresOfThePackage) {
  const std::string variant = GetParam();
  const std::string file = ReadFixture("gliclass/" + variant + "/expected.json");
  const Result<JsonDocument> expected = JsonDocument::Parse(file);
  ASSERT_TRUE(expected.ok());
  const JsonValue labels = expected->root().FindMember("labels");
  for (const auto& backend : BackendsUnderTest()) {
    Session session(backend.create());
    ASSERT_EQ(Load(session, variant, ReadFixture("gliclass/" + variant + "/config.json")), "ok") << backend.name;
    for (const JsonValue text : expected->root().FindMember("texts")) {
      for (const bool multi_label : {false, true}) {
        const auto scores = Scores(session, text.FindMember("text"), labels, multi_label);
        const JsonValue wanted = text.FindMember(multi_label ? "each" : "together");
        ASSERT_EQ(scores.size(), wanted.size());
        for (size_t i = 0; i < wanted.size(); ++i) {
          EXPECT_NEAR(scores.at(labels[i].ToString()), *wanted[i].GetDouble(), kTolerance)
              << backend.name << " " << text.FindMember("text").ToString();
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, GliClassTest,
                         ::testing::Values("simple", "simple-text-first", "weighted-dot", "mlp", "hopfield",
                                           "cross-attn", "cross-attn-text-first", "average", "average-to-the-end",
                                           "normalize", "lstm", "lstm-all", "segments", "layer", "bi", "bi-normalize",
                                           "bi-fused", "bi-fused-normalize", "pool-last", "pool-avg", "pool-sum",
                                           "pool-max", "pool-abs_max", "pool-abs_avg", "pool-last-all", "pool-max-all",
                                           "modernbert", "modernbert-average"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(GliClass, RefusesWhatItCannotRead) {
  const std::string config = ReadFixture("gliclass/simple/config.json");
  Session session(CreateReferenceBackend());
  ASSERT_EQ(Load(session, "simple", config), "ok");
  Session classifier(CreateReferenceBackend());
  ASSERT_TRUE(classifier.AddFile("config.json", config).ok());
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
    ASSERT_TRUE(classifier.AddFile(name, ReadFixture(std::string("gliclass/tokenizer/") + name)).ok());
  }
  EXPECT_EQ(Describe(classifier.Open(R"({"task":"text-classification"})")),
            "unsupported: the checkpoint is a GLiClassModel, which reads labels: it is not for text-classification");
  EXPECT_EQ(RunToEnd(session, R"({"inputs":[{"text":"a"}],"options":{"candidate_labels":["x<<LABEL>>y"]}})"),
            "invalid_argument: a label or input 0 contains a marker of the model");
  EXPECT_EQ(RunToEnd(session, R"({"inputs":[{"text":"a"}],"options":{"candidate_labels":[]}})"),
            "invalid_argument: option candidate_labels must name at least one label");
  std::string labels = "\"a\"";
  for (int i = 0; i < 1100; ++i) labels += ",\"a\"";
  EXPECT_TRUE(RunToEnd(session, R"({"inputs":[{"text":"a"}],"options":{"candidate_labels":[)" + labels + "]}}")
                  .starts_with("text_too_long: input 0 and its labels have more than the "));
  for (const auto& [from, to, what] :
       {std::tuple{"\"uni-encoder\"", "\"encoder-decoder\"", "architecture_type \"encoder-decoder\""},
        std::tuple{"\"scorer_type\": \"simple\"", "\"scorer_type\": \"decoder-kv\"", "scorer_type \"decoder-kv\""},
        std::tuple{"\"squeeze_layers\": false", "\"squeeze_layers\": true", "a GLiClass with squeeze_layers"}}) {
    std::string other = config;
    const size_t at = other.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    other.replace(at, std::string_view(from).size(), to);
    Session refused(CreateReferenceBackend());
    EXPECT_EQ(Load(refused, "simple", other), std::string("unsupported: config.json: ") + what + " is not supported");
  }
  // This scorer's softmax includes all allocated labels.
  std::string fixed = ReadFixture("gliclass/hopfield/config.json");
  constexpr std::string_view kDynamic = "\"max_labels_alloc\": \"dynamic\"";
  ASSERT_NE(fixed.find(kDynamic), std::string::npos);
  fixed.replace(fixed.find(kDynamic), kDynamic.size(), "\"max_labels_alloc\": \"fixed\"");
  Session refused(CreateReferenceBackend());
  EXPECT_EQ(Load(refused, "hopfield", fixed),
            "unsupported: config.json: scorer_type \"hopfield\" with a max_labels_alloc that is not \"dynamic\" is not "
            "supported");
}

}  // namespace
}  // namespace peruse
