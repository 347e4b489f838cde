// Logits of models that read labels with the text.
#include <gtest/gtest.h>

#include <cmath>

#include "core/backend/reference/reference_backend.h"
#include "tests/native/models/backends.h"
#include "tests/native/models/fixtures.h"
#include "tests/native/tasks/session_testing.h"

namespace peruse {
namespace {

using testing::BackendsUnderTest;
using testing::Bytes;
using testing::ReadFixture;

constexpr double kTolerance = 2e-5;

void Load(Session& session, const std::string& kind, const std::string& variant, std::string_view open) {
  const std::string config = kind == "gliner" ? "/gliner_config.json" : "/config.json";
  ASSERT_TRUE(session.AddFile("config.json", ReadFixture(kind + "/" + variant + config)).ok());
  for (const std::string name : {"tokenizer.json", "tokenizer_config.json"}) {
    ASSERT_TRUE(session.AddFile(name, ReadFixture(kind + "/tokenizer/" + name)).ok());
    if (!variant.starts_with("bi")) continue;
    ASSERT_TRUE(session.AddFile("labels_tokenizer/" + name, ReadFixture("gliner/labels/" + name)).ok());
  }
  ASSERT_TRUE(session.Open(open).ok());
  ASSERT_TRUE(session.FeedWeights(Bytes(ReadFixture(kind + "/" + variant + "/model.safetensors"))).ok());
  ASSERT_TRUE(session.FinishWeights().ok());
}

std::string Inspect(Session& session, JsonValue text, JsonValue labels, std::string_view more = "") {
  const std::string request = "{\"inputs\":[{\"text\":" + text.ToString() +
                              "}],\"options\":{\"output_logits\":true,\"labels\":" + labels.ToString() +
                              std::string(more) + "}}";
  return LastParts(ToEnd(session, session.StartInspection(request)));
}

void Flatten(JsonValue list, std::vector<double>* numbers) {
  if (const std::optional<double> number = list.GetDouble()) numbers->push_back(*number);
  for (const JsonValue item : list) Flatten(item, numbers);
}

class GlinerLogitsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GlinerLogitsTest, AreThoseOfThePackage) {
  const Result<JsonDocument> goldens = JsonDocument::Parse(ReadFixture("gliner/logits.json"));
  ASSERT_TRUE(goldens.ok());
  const JsonValue expected = goldens->root().FindMember("logits").FindMember(GetParam());
  std::vector<double> logits;
  Flatten(expected, &logits);
  for (const auto& backend : BackendsUnderTest()) {
    Session session(backend.create());
    Load(session, "gliner", GetParam(), R"({"task":"zero-shot-token-classification"})");
    const std::string json = Inspect(session, goldens->root().FindMember("text"), goldens->root().FindMember("labels"));
    const Result<JsonDocument> document = JsonDocument::Parse(json);
    ASSERT_TRUE(document.ok()) << json;
    const JsonValue result = document->root()[0].FindMember("value");
    EXPECT_EQ(result.FindMember("spans").size(), expected.size());
    const auto index = static_cast<size_t>(*result.FindMember("logits").FindMember("array").GetInt64());
    const std::span<const float> found = session.array(index);
    ASSERT_EQ(found.size(), logits.size()) << json;
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], logits[i], kTolerance) << backend.name << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, GlinerLogitsTest, ::testing::Values("markerV0", "token", "bi", "bi-token"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(GliClassLogitsTest, HaveTheProbabilitiesOfThePackage) {
  for (const char* variant : {"simple", "simple-text-first", "bi"}) {
    const Result<JsonDocument> goldens =
        JsonDocument::Parse(ReadFixture("gliclass/" + std::string(variant) + "/expected.json"));
    ASSERT_TRUE(goldens.ok());
    Session session(CreateReferenceBackend());
    Load(session, "gliclass", variant, R"({"task":"zero-shot-classification"})");
    for (const JsonValue text : goldens->root().FindMember("texts")) {
      const std::string json = Inspect(session, text.FindMember("text"), goldens->root().FindMember("labels"));
      ASSERT_NE(json.find(R"("logits":{"array":0,"dims":[4]})"), std::string::npos) << json;
      for (size_t label = 0; label < 4; ++label) {
        const double probability = 1 / (1 + std::exp(-static_cast<double>(session.array(0)[label])));
        EXPECT_NEAR(probability, *text.FindMember("each")[label].GetDouble(), kTolerance) << json;
      }
    }
  }
}

TEST(LabelInspectionTest, TokensOfLabelsAreSpecialAndOthersHaveOffsetsInTheText) {
  const Result<JsonDocument> input = JsonDocument::Parse(R"({"text":"É Tokyo","labels":["date"],"none":[]})");
  for (const auto& [kind, variant, task] : {std::tuple{"gliner", "markerV0", "zero-shot-token-classification"},
                                            std::tuple{"gliclass", "simple", "zero-shot-classification"},
                                            std::tuple{"gliclass", "simple-text-first", "zero-shot-classification"}}) {
    Session session(CreateReferenceBackend());
    Load(session, kind, variant, "{\"task\":\"" + std::string(task) + "\"}");
    const std::string json =
        Inspect(session, input->root().FindMember("text"), input->root().FindMember("labels"), R"(,"layers":[0])");
    const Result<JsonDocument> document = JsonDocument::Parse(json);
    ASSERT_TRUE(document.ok()) << json;
    int64_t first = 7;
    int64_t last = 0;
    size_t special = 0;
    for (const JsonValue token : document->root()[0].FindMember("value").FindMember("tokens")) {
      if (token.FindMember("special").ToString() == "true") {
        ++special;
        EXPECT_EQ(token.FindMember("sequence").ToString(), "null");
        continue;
      }
      EXPECT_EQ(token.FindMember("sequence").ToString(), "0");
      first = std::min(first, *token.FindMember("start").GetInt64());
      last = std::max(last, *token.FindMember("end").GetInt64());
    }
    EXPECT_EQ(first, 0) << json;
    EXPECT_EQ(last, 7) << json;
    EXPECT_GT(special, 4u) << json;  // [CLS], [SEP], two markers and a label
  }
}

TEST(LabelInspectionTest, RefusesWhatItCannotRead) {
  Session session(CreateReferenceBackend());
  Load(session, "gliner", "markerV0", R"({"task":"zero-shot-token-classification"})");
  const auto expect = [&](std::string_view request, std::string_view start) {
    const std::string result = ToEnd(session, session.StartInspection(request));
    EXPECT_TRUE(result.starts_with(start)) << result;
  };
  expect(R"({"inputs":[{"text":"a"}],"options":{"output_logits":true}})", "invalid_argument: output_logits: ");
  expect(R"({"inputs":[{"text":"a"}],"options":{"labels":[]}})", "invalid_argument: option labels must name");
  expect(R"({"inputs":[{"text":"a","text_pair":"b"}],"options":{"labels":["x"]}})", "invalid_argument: option labels");
  expect(R"({"inputs":[{"text":" "}],"options":{"labels":["x"]}})", "empty_text");
  std::string text = R"({"inputs":[{"text":")";
  for (int i = 0; i < 400; ++i) text += "a ";
  expect(text + R"("}],"options":{"labels":["x"],"output_logits":true}})", "text_too_long");
  expect(text + R"("}],"options":{"labels":["x"],"truncation":true}})", "[{\"input\":0");
}

}  // namespace
}  // namespace peruse
