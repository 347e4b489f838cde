#include "core/tasks/text_classification.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

// Logits for which softmax returns 0.25 and 0.75, for any text.
FakeModel::LogitsOf QuarterAndThreeQuarters() {
  return [](const ModelInput&) { return std::vector<float>{0.0f, 1.0986123f}; };
}

TEST(TextClassification, GivesTheBestLabelByDefault) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"NEG", "POS"}), false, QuarterAndThreeQuarters());
  const std::string result = RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":"good"}]})");
  EXPECT_TRUE(result.starts_with(R"([[{"label":"POS","score":0.75)")) << result;
  EXPECT_EQ(result.find("NEG"), std::string::npos);
}

// Only empty or blank texts are errors: transformers also accepts a text that normalises to nothing.
TEST(TextClassification, AnswersATextThatNormalisesToNothing) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"NEG", "POS"}), false, QuarterAndThreeQuarters());
  for (const char* text : {"\xCC\x81", "\xEE\x80\x80", " \xE2\x80\x8B "}) {
    const std::string result =
        RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":")" + std::string(text) + R"("}]})");
    EXPECT_TRUE(result.starts_with(R"([[{"label":"POS")")) << result;
  }
}

TEST(TextClassification, TopKNullGivesAllLabelsBestFirst) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"NEG", "POS"}), false, QuarterAndThreeQuarters());
  const std::string result =
      RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":"good"}],"options":{"top_k":null}})");
  EXPECT_LT(result.find("POS"), result.find("NEG"));
  EXPECT_NE(result.find("NEG"), std::string::npos);
}

TEST(TextClassification, EqualScoresKeepTheLowerLabelFirst) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"A", "B", "C"}), false, [](const ModelInput&) { return std::vector<float>{0, 0, 0}; });
  const std::string result =
      RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":"good"}],"options":{"top_k":2}})");
  EXPECT_LT(result.find("\"A\""), result.find("\"B\""));
  EXPECT_EQ(result.find("\"C\""), std::string::npos);
}

// transformers raises KeyError if it needs the name: of the best label, or of all for top_k above 1.
TEST(TextClassification, ALabelWithoutANameIsNotNamedByUs) {
  auto tokenizer = WordTokenizer("good bad");
  ModelConfig config = LabelConfig({"NEG", "LABEL_1", "POS"});
  config.nameless = {1};
  const auto run = [&](std::vector<float> logits, const std::string& options) {
    FakeModel model(config, false, [&](const ModelInput&) { return logits; });
    return RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":"good"}])" + options + "}");
  };
  EXPECT_TRUE(run({0, 1, 2}, "").starts_with(R"([[{"label":"POS")"));
  const std::string refused = "malformed_file: config.json: id2label has no name for label 1";
  EXPECT_EQ(run({0, 3, 2}, ""), refused);
  EXPECT_EQ(run({0, 1, 2}, R"(,"options":{"top_k":2})"), refused);
  EXPECT_EQ(run({0, 1, 2}, R"(,"options":{"top_k":null})"), refused);
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
    EXPECT_NE(RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":"good"}]})").find(c.score),
              std::string::npos)
        << c.score;
  }
}

TEST(TextClassification, OneLabelMeansSigmoidAndTheCallerOverrules) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"SCORE"}), false, [](const ModelInput&) { return std::vector<float>{2.0f}; });
  EXPECT_NE(RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":"good"}]})").find("0.8807"),
            std::string::npos);
  EXPECT_NE(RunTask<TextClassification>(*tokenizer, model,
                                        R"({"inputs":[{"text":"good"}],"options":{"function_to_apply":"none"}})")
                .find("\"score\":2"),
            std::string::npos);
  EXPECT_NE(RunTask<TextClassification>(*tokenizer, model,
                                        R"({"inputs":[{"text":"good"}],"options":{"function_to_apply":"softmax"}})")
                .find("\"score\":1"),
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
  RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":"good","text_pair":"bad good"}]})");
  EXPECT_EQ(tokens, 6u);  // [CLS] good [SEP] bad good [SEP]
  EXPECT_EQ(last_type, 1);
}

TEST(TextClassification, LongInputsAreSplitIntoBatchesInOrder) {
  auto tokenizer = WordTokenizer("a b");
  FakeModel model(LabelConfig({"A", "B"}), false, [](const ModelInput& input) {
    return input.ids[1] == 5 ? std::vector<float>{1, 0} : std::vector<float>{0, 1};
  });
  std::string request = R"({"inputs":[)";
  for (int i = 0; i < 1000; ++i) {
    request += (i ? "," : "") + std::string(R"({"text":")") + (i % 3 == 0 ? "a" : "b") + "\"}";
  }
  const std::string result = RunTask<TextClassification>(*tokenizer, model, request + "]}");
  EXPECT_EQ(model.runs, 3);  // 3000 rows, at most 1024 a batch
  size_t at = 0;
  for (int i = 0; i < 1000; ++i) {
    at = result.find("\"label\":\"", at) + 9;
    ASSERT_EQ(result[at], i % 3 == 0 ? 'A' : 'B') << i;
  }
}

// Windows of two words; the model is surest of INJECTION for "bad".
struct Guard {
  std::unique_ptr<text::Tokenizer> tokenizer = WordTokenizer("good bad");
  FakeModel model{LabelConfig({"SAFE", "INJECTION"}), false, [](const ModelInput& input) {
                    const bool bad = std::find(input.ids.begin(), input.ids.end(), 6) != input.ids.end();
                    return bad ? std::vector<float>{0, 1.0986123f} : std::vector<float>{3, 0};
                  }};
  std::string Run(std::string_view options) {
    return RunTask<TextClassification>(
        *tokenizer, model,
        R"({"inputs":[{"text":"good good good bad good"}],"options":{"max_length":4,"top_k":null,)" +
            std::string(options) + "}}");
  }
};

TEST(TextClassification, WindowsGiveTheHighestScoreOfEachLabelAndWhereItIs) {
  Guard guard;
  const std::string result = guard.Run(R"("stride":0)");
  EXPECT_EQ(guard.model.runs, 1);
  EXPECT_EQ(guard.model.batch().sequences(), 3);
  EXPECT_TRUE(result.starts_with(R"([[{"label":"SAFE","score":0.95)")) << result;
  EXPECT_NE(result.find(R"("start":0,"end":9},{"label":"INJECTION","score":0.75)"), std::string::npos) << result;
  EXPECT_NE(result.find(R"("start":10,"end":18})"), std::string::npos) << result;
}

TEST(TextClassification, TheWindowOfANamedLabelSpeaksForTheText) {
  Guard guard;
  const std::string result = guard.Run(R"("stride":0,"window_label":"INJECTION")");
  EXPECT_TRUE(result.starts_with(R"([[{"label":"INJECTION","score":0.75)")) << result;
  EXPECT_NE(result.find(R"({"label":"SAFE","score":0.25)"), std::string::npos) << result;
  EXPECT_EQ(result.find(R"("start":0)"), std::string::npos) << result;
}

TEST(TextClassification, WindowsMayGiveTheMean) {
  Guard guard;
  const std::string result = guard.Run(R"("stride":0,"windows":"mean")");
  EXPECT_TRUE(result.starts_with(R"([[{"label":"SAFE","score":0.71)")) << result;  // (0.9526 + 0.25 + 0.9526) / 3
  EXPECT_EQ(result.find("start"), std::string::npos) << result;
}

TEST(TextClassification, TemperatureFlattensTheScores) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"NEG", "POS"}), false, QuarterAndThreeQuarters());
  const std::string request = R"({"inputs":[{"text":"good"}],"options":{"temperature":)";
  EXPECT_TRUE(RunTask<TextClassification>(*tokenizer, model, request + "2}}")
                  .starts_with(R"([[{"label":"POS","score":0.63397)"));
  EXPECT_TRUE(RunTask<TextClassification>(*tokenizer, model, request + "0}}").starts_with("invalid_argument"));
  EXPECT_TRUE(RunTask<TextClassification>(*tokenizer, model, request + "\"2\"}}").starts_with("invalid_argument"));
}

TEST(TextClassification, WindowsRefuseWhatMakesNoSense) {
  Guard guard;
  EXPECT_TRUE(guard.Run(R"("stride":0,"truncation":true)").starts_with("invalid_argument: options truncation and"));
  EXPECT_TRUE(guard.Run(R"("stride":0,"window_label":"BAD")").starts_with("invalid_argument: option window_label"));
  // Also without windows: the label must exist.
  EXPECT_TRUE(guard.Run(R"("window_label":"BAD")").starts_with("invalid_argument: option window_label"));
  EXPECT_TRUE(guard.Run(R"("stride":2)").starts_with("invalid_argument: stride 2"));
  EXPECT_TRUE(RunTask<TextClassification>(*guard.tokenizer, guard.model,
                                          R"({"inputs":[{"text":"good","text_pair":"bad"}],"options":{"stride":0}})")
                  .starts_with("invalid_argument: option stride is for single texts"));
}

// As in transformers. Without special tokens there is nothing to read.
TEST(TextClassification, ReadsAnEmptyTextByItsSpecialTokens) {
  auto tokenizer = WordTokenizer("good bad");
  const auto count = [](const ModelInput& input) { return std::vector<float>{static_cast<float>(input.ids.size())}; };
  FakeModel model(LabelConfig({"A"}), false, count);
  const std::string request = R"({"inputs":[{"text":""},{"text":" \n"}],"options":{"function_to_apply":"none"}})";
  EXPECT_EQ(RunTask<TextClassification>(*tokenizer, model, request),
            R"([[{"label":"A","score":2}],[{"label":"A","score":2}]])");
  text::TokenizerFiles files;
  files.emplace("tokenizer.json", R"({"version":"1.0","model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0}}})");
  const auto plain = text::Tokenizer::Create(files);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_EQ(RunTask<TextClassification>(**plain, model, request),
            "empty_text: input 0 has no tokens: its text is empty, and the tokenizer adds no special tokens");
}

TEST(TextClassification, RefusesBadRequestsByName) {
  auto tokenizer = WordTokenizer("good bad", R"({"model_max_length": 4})");
  FakeModel model(LabelConfig({"A", "B"}), false, [](const ModelInput&) { return std::vector<float>{0, 1}; });
  const auto expect = [&](std::string_view request, std::string_view code, std::string_view mention) {
    const std::string result = RunTask<TextClassification>(*tokenizer, model, request);
    EXPECT_TRUE(result.starts_with(code)) << result;
    EXPECT_NE(result.find(mention), std::string::npos) << result;
  };
  expect(R"({})", "invalid_argument", "inputs");
  expect(R"({"inputs":[{}]})", "invalid_argument", "text");
  expect(R"({"inputs":[{"text":1}]})", "invalid_argument", "text");
  expect(R"({"inputs":[{"text":"good bad good"}]})", "text_too_long", "truncation");
  expect(R"({"inputs":[{"text":"good"}],"options":{"top_k":0}})", "invalid_argument", "top_k");
  expect(R"({"inputs":[{"text":"good"}],"options":{"top_k":"1"}})", "invalid_argument", "top_k");
  expect(R"({"inputs":[{"text":"good"}],"options":{"function_to_apply":"relu"}})", "invalid_argument", "relu");
  expect(R"({"inputs":[{"text":"good"}],"options":{"truncation":"yes"}})", "invalid_argument", "truncation");
  expect(R"({"inputs":[{"text":"good"}],"options":{"truncation":true,"max_length":5}})", "invalid_argument",
         "max_length");
  EXPECT_TRUE(RunTask<TextClassification>(*tokenizer, model,
                                          R"({"inputs":[{"text":"good bad good"}],"options":{"truncation":true}})")
                  .starts_with("[["));
  EXPECT_EQ(RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[]})"), "[]");
}

TEST(TextClassification, ResultsComeBatchByBatch) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"A", "B"}), false, [](const ModelInput&) { return std::vector<float>{0, 1}; });
  Collecting<TextClassification> task({*tokenizer, model});
  task.request.inputs.resize(700, {"good", std::nullopt});
  ASSERT_TRUE(task.Start().ok());
  EXPECT_EQ(task.parts, 0u);
  EXPECT_TRUE(*task.Step());
  EXPECT_EQ(task.parts, 341u);  // three tokens each, 1024 a batch
  EXPECT_TRUE(*task.Step());
  EXPECT_FALSE(*task.Step());
  EXPECT_EQ(task.parts, 700u);
  EXPECT_EQ(task.tokens_read(), 2100);
}

TEST(TextClassification, AModelErrorIsPassedOnAndTheNextRunWorks) {
  auto tokenizer = WordTokenizer("good bad");
  FakeModel model(LabelConfig({"A", "B"}), false, [](const ModelInput&) { return std::vector<float>{0, 1}; });
  model.next_status = OutOfMemory("no room");
  EXPECT_EQ(RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":"good"}]})"),
            "out_of_memory: no room");
  model.next_status = OkStatus();
  EXPECT_TRUE(RunTask<TextClassification>(*tokenizer, model, R"({"inputs":[{"text":"good"}]})").starts_with("[["));
}

}  // namespace
}  // namespace peruse
