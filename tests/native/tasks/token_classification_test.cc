#include "core/tasks/token_classification.h"

#include <gtest/gtest.h>

#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

// O=0 B-PER=1 I-PER=2 LOC=3; the label of a token is `labels[id - 5]`, with a logit of 9.
FakeModel::LogitsOf ByToken(std::vector<size_t> labels) {
  return [=](const ModelInput& input) {
    std::vector<float> logits(4 * input.ids.size());
    for (size_t t = 0; t < input.ids.size(); ++t) {
      const int32_t id = input.ids[t];
      logits[4 * t + (id < 5 ? 0 : labels[static_cast<size_t>(id - 5)])] = 9;
    }
    return logits;
  };
}

ModelConfig Labels() { return LabelConfig({"O", "B-PER", "I-PER", "LOC"}); }

constexpr std::string_view kWords = "anna sewell wrote in nor ##wich paris";
const std::vector<size_t> kLabels = {1, 2, 0, 0, 3, 0, 3};

TEST(TokenClassification, NoneGivesTokens) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  TokenClassification task(*tokenizer, model);
  const std::string result = RunTask(task, R"({"inputs":[{"text":"Anna Sewell wrote in Norwich"}]})");
  EXPECT_TRUE(result.starts_with(R"([[{"entity":"B-PER","score":0.99)")) << result;
  EXPECT_NE(result.find(R"("index":1,"word":"anna","start":0,"end":4)"), std::string::npos) << result;
  EXPECT_NE(result.find(R"("entity":"LOC")"), std::string::npos);
  EXPECT_EQ(result.find("wrote"), std::string::npos) << "O is left out";
}

TEST(TokenClassification, SimpleGroupsNeighboursAndCutsTheText) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  TokenClassification task(*tokenizer, model);
  const std::string result =
      RunTask(task, R"({"inputs":[{"text":"Anna Sewell wrote"}],"options":{"aggregation_strategy":"simple"}})");
  EXPECT_NE(result.find(R"("entity_group":"PER")"), std::string::npos) << result;
  EXPECT_NE(result.find(R"("word":"anna sewell","start":0,"end":11)"), std::string::npos) << result;
}

TEST(TokenClassification, ANewBeginningIsANewGroup) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  TokenClassification task(*tokenizer, model);
  const std::string result =
      RunTask(task, R"({"inputs":[{"text":"anna anna"}],"options":{"aggregation_strategy":"simple"}})");
  EXPECT_EQ(std::count(result.begin(), result.end(), '{'), 2) << result;
}

TEST(TokenClassification, FirstLabelsTheWholeWord) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));  // "##wich" alone would be O
  TokenClassification task(*tokenizer, model);
  const std::string text = R"({"inputs":[{"text":"in Norwich"}],"options":{"aggregation_strategy":")";
  EXPECT_NE(RunTask(task, text + "first\"}}").find(R"("word":"norwich","start":3,"end":10)"), std::string::npos);
  EXPECT_NE(RunTask(task, text + "max\"}}").find(R"("word":"norwich")"), std::string::npos);
  // Half LOC, half O: a tie, which the lower label wins, so nothing is found.
  EXPECT_EQ(RunTask(task, text + "average\"}}"), "[[]]");
  EXPECT_NE(RunTask(task, text + "simple\"}}").find(R"("word":"nor")"), std::string::npos);
}

TEST(TokenClassification, IgnoreLabels) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  TokenClassification task(*tokenizer, model);
  const std::string result =
      RunTask(task, R"({"inputs":[{"text":"wrote paris"}],"options":{"ignore_labels":["LOC"]}})");
  EXPECT_NE(result.find(R"("entity":"O")"), std::string::npos);
  EXPECT_EQ(result.find("LOC"), std::string::npos);
}

TEST(TokenClassification, LongTextsAreReadInWindowsWithoutDoubles) {
  auto tokenizer = WordTokenizer(kWords, R"({"model_max_length": 6})");
  FakeModel model(Labels(), true, ByToken(kLabels));
  TokenClassification task(*tokenizer, model);
  const std::string text = R"({"inputs":[{"text":"in in paris in in paris wrote paris"}],"options":{)";
  EXPECT_TRUE(RunTask(task, text + "}}").starts_with("text_too_long")) << RunTask(task, text + "}}");
  EXPECT_TRUE(RunTask(task, text + R"("stride":2}})").starts_with("invalid_argument"));
  const std::string result = RunTask(task, text + R"("stride":2,"aggregation_strategy":"simple"}})");
  EXPECT_EQ(std::count(result.begin(), result.end(), '{'), 3) << result;
  EXPECT_NE(result.find(R"("start":30,"end":35)"), std::string::npos) << result;
}

TEST(TokenClassification, RefusesBadOptionsByName) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  TokenClassification task(*tokenizer, model);
  EXPECT_NE(RunTask(task, R"({"inputs":[],"options":{"aggregation_strategy":"best"}})").find("best"),
            std::string::npos);
  EXPECT_NE(RunTask(task, R"({"inputs":[],"options":{"ignore_labels":"O"}})").find("ignore_labels"), std::string::npos);
  EXPECT_TRUE(RunTask(task, R"({"inputs":[{"text":" "}]})").starts_with("empty_text"));
  // Also where the model has no limit, so that nothing is cut.
  EXPECT_NE(RunTask(task, R"({"inputs":[],"options":{"aggregation_strategy":"first","stride":"two"}})").find("stride"),
            std::string::npos);
}

}  // namespace
}  // namespace peruse
