#include "core/tasks/text_classification.h"

#include <gtest/gtest.h>

#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

// Logits that softmax makes 0.25 and 0.75, whatever the text.
FakeModel::LogitsOf QuarterAndThreeQuarters() {
  return [](const ModelInput&) { return std::vector<float>{0.0f, 1.0986123f}; };
}

TEST(TextClassification, GivesTheBestLabelByDefault) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"NEG", "POS"}), false, QuarterAndThreeQuarters());
  TextClassification task(*tokenizer, model);
  const std::string result = RunTask(task, R"({"inputs":[{"text":"good"}]})");
  EXPECT_TRUE(result.starts_with(R"([[{"label":"POS","score":0.75)")) << result;
  EXPECT_EQ(result.find("NEG"), std::string::npos);
}

TEST(TextClassification, TopKNullGivesAllLabelsBestFirst) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"NEG", "POS"}), false, QuarterAndThreeQuarters());
  TextClassification task(*tokenizer, model);
  const std::string result = RunTask(task, R"({"inputs":[{"text":"good"}],"options":{"top_k":null}})");
  EXPECT_LT(result.find("POS"), result.find("NEG"));
  EXPECT_NE(result.find("NEG"), std::string::npos);
}

TEST(TextClassification, EqualScoresKeepTheLowerLabelFirst) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"A", "B", "C"}), false, [](const ModelInput&) { return std::vector<float>{0, 0, 0}; });
  TextClassification task(*tokenizer, model);
  const std::string result = RunTask(task, R"({"inputs":[{"text":"good"}],"options":{"top_k":2}})");
  EXPECT_LT(result.find("\"A\""), result.find("\"B\""));
  EXPECT_EQ(result.find("\"C\""), std::string::npos);
}

TEST(TextClassification, ConfigurationChoosesTheFunction) {
  auto tokenizer = WordTokenizer("good bad");
  const auto zeros = [](const ModelInput&) { return std::vector<float>{0, 0, 0}; };
  struct Case {
    ProblemType problem;
    std::string_view score;
  };
  for (const Case& c : {Case{ProblemType::kRegression, "\"score\":0"}, Case{ProblemType::kMultiLabel, "\"score\":0.5"},
                        Case{ProblemType::kSingleLabel, "\"score\":0.3333"}}) {
    ModelConfig config = LabelConfig({"A", "B", "C"});
    config.problem_type = c.problem;
    FakeModel model(config, false, zeros);
    TextClassification task(*tokenizer, model);
    EXPECT_NE(RunTask(task, R"({"inputs":[{"text":"good"}]})").find(c.score), std::string::npos) << c.score;
  }
}

TEST(TextClassification, OneLabelMeansSigmoidAndTheCallerOverrules) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"SCORE"}), false, [](const ModelInput&) { return std::vector<float>{2.0f}; });
  TextClassification task(*tokenizer, model);
  EXPECT_NE(RunTask(task, R"({"inputs":[{"text":"good"}]})").find("0.8807"), std::string::npos);
  EXPECT_NE(RunTask(task, R"({"inputs":[{"text":"good"}],"options":{"function_to_apply":"none"}})").find("\"score\":2"),
            std::string::npos);
  EXPECT_NE(
      RunTask(task, R"({"inputs":[{"text":"good"}],"options":{"function_to_apply":"softmax"}})").find("\"score\":1"),
      std::string::npos);
}

TEST(TextClassification, PairsAreOneInput) {
  auto tokenizer = WordTokenizer("good bad");
  size_t tokens = 0;
  int32_t last_type = -1;
  FakeModel model(LabelConfig({"A", "B"}), false, [&](const ModelInput& input) {
    tokens = input.ids.size();
    last_type = input.type_ids.back();
    return std::vector<float>{0, 1};
  });
  TextClassification task(*tokenizer, model);
  RunTask(task, R"({"inputs":[{"text":"good","text_pair":"bad good"}]})");
  EXPECT_EQ(tokens, 6u);  // [CLS] good [SEP] bad good [SEP]
  EXPECT_EQ(last_type, 1);
}

TEST(TextClassification, LongInputsAreSplitIntoBatchesInOrder) {
  auto tokenizer = WordTokenizer("a b");
  FakeModel model(LabelConfig({"A", "B"}), false, [](const ModelInput& input) {
    return input.ids[1] == 5 ? std::vector<float>{1, 0} : std::vector<float>{0, 1};
  });
  TextClassification task(*tokenizer, model);
  std::string request = R"({"inputs":[)";
  for (int i = 0; i < 1000; ++i) {
    request += (i ? "," : "") + std::string(R"({"text":")") + (i % 3 == 0 ? "a" : "b") + "\"}";
  }
  const std::string result = RunTask(task, request + "]}");
  EXPECT_EQ(model.runs, 3);  // 3000 rows, at most 1024 a batch
  size_t at = 0;
  for (int i = 0; i < 1000; ++i) {
    at = result.find("\"label\":\"", at) + 9;
    ASSERT_EQ(result[at], i % 3 == 0 ? 'A' : 'B') << i;
  }
}

TEST(TextClassification, RefusesBadRequestsByName) {
  auto tokenizer = WordTokenizer("good bad", R"({"model_max_length": 4})");
  FakeModel model(LabelConfig({"A", "B"}), false, [](const ModelInput&) { return std::vector<float>{0, 1}; });
  TextClassification task(*tokenizer, model);
  const auto expect = [&](std::string_view request, std::string_view code, std::string_view mention) {
    const std::string result = RunTask(task, request);
    EXPECT_TRUE(result.starts_with(code)) << result;
    EXPECT_NE(result.find(mention), std::string::npos) << result;
  };
  expect(R"({})", "invalid_argument", "inputs");
  expect(R"({"inputs":[{}]})", "invalid_argument", "text");
  expect(R"({"inputs":[{"text":1}]})", "invalid_argument", "text");
  expect(R"({"inputs":[{"text":""}]})", "empty_text", "empty");
  expect(R"({"inputs":[{"text":"good"},{"text":"  \n"}]})", "empty_text", "input 1");
  expect(R"({"inputs":[{"text":"good bad good"}]})", "text_too_long", "truncation");
  expect(R"({"inputs":[{"text":"good"}],"options":{"top_k":0}})", "invalid_argument", "top_k");
  expect(R"({"inputs":[{"text":"good"}],"options":{"top_k":"1"}})", "invalid_argument", "top_k");
  expect(R"({"inputs":[{"text":"good"}],"options":{"function_to_apply":"relu"}})", "invalid_argument", "relu");
  expect(R"({"inputs":[{"text":"good"}],"options":{"truncation":"yes"}})", "invalid_argument", "truncation");
  expect(R"({"inputs":[{"text":"good"}],"options":{"truncation":true,"max_length":5}})", "invalid_argument",
         "max_length");
  // And goes on working.
  EXPECT_TRUE(
      RunTask(task, R"({"inputs":[{"text":"good bad good"}],"options":{"truncation":true}})").starts_with("[["));
  EXPECT_EQ(RunTask(task, R"({"inputs":[]})"), "[]");
}

TEST(TextClassification, AModelErrorIsPassedOnAndTheNextRunWorks) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"A", "B"}), false, [](const ModelInput&) { return std::vector<float>{0, 1}; });
  TextClassification task(*tokenizer, model);
  model.next_status = OutOfMemory("no room");
  EXPECT_EQ(RunTask(task, R"({"inputs":[{"text":"good"}]})"), "out_of_memory: no room");
  model.next_status = OkStatus();
  EXPECT_TRUE(RunTask(task, R"({"inputs":[{"text":"good"}]})").starts_with("[["));
}

}  // namespace
}  // namespace peruse
