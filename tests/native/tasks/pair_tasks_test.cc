// The tasks that read pairs of texts through a classification head: zero-shot classification, text ranking, multiple
// choice.
#include <gtest/gtest.h>

#include "core/tasks/multiple_choice.h"
#include "core/tasks/text_ranking.h"
#include "core/tasks/zero_shot_classification.h"
#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

// `logits` of the last ordinary token of the input (before the final [SEP]); ids from 5.
FakeModel::LogitsOf ByLastToken(std::vector<std::vector<float>> logits) {
  return [=](const ModelInput& input) { return logits[static_cast<size_t>(input.ids[input.ids.size() - 2] - 5)]; };
}

TEST(ZeroShotClassification, SharesTheProbabilityAmongLabels) {
  auto tokenizer = WordTokenizer("sport art about");
  FakeModel model(LabelConfig({"contradiction", "neutral", "ENTAILMENT"}), false,
                  ByLastToken({{0, 0, 1.0986123f}, {0, 9, 0}}));
  ZeroShotClassification task(*tokenizer, model);
  const std::string result =
      RunTask(task, R"({"inputs":[{"text":"sport"}],"options":{"candidate_labels":["art","sport"],)"
                    R"("hypothesis_template":"about {}"}})");
  EXPECT_TRUE(result.starts_with(R"([{"sequence":"sport","labels":["sport","art"],"scores":[0.75)")) << result;
}

TEST(ZeroShotClassification, MultiLabelJudgesEachByItself) {
  auto tokenizer = WordTokenizer("sport art about");
  // Entailment first: contradiction is then the last label.
  FakeModel model(LabelConfig({"entailment", "neutral", "contradiction"}), false,
                  ByLastToken({{0, 5, 0}, {1.0986123f, 5, 0}}));
  ZeroShotClassification task(*tokenizer, model);
  const std::string result =
      RunTask(task, R"({"inputs":[{"text":"sport"}],"options":{"candidate_labels":["sport","art"],)"
                    R"("hypothesis_template":"about {}","multi_label":true}})");
  EXPECT_NE(result.find(R"("labels":["art","sport"],"scores":[0.75)"), std::string::npos) << result;
  EXPECT_NE(result.find(",0.5]"), std::string::npos) << result;
}

TEST(ZeroShotClassification, RefusesBadRequestsByName) {
  auto tokenizer = WordTokenizer("sport art about");
  FakeModel model(LabelConfig({"contradiction", "entailment"}), false, ByLastToken({{0, 1}, {1, 0}}));
  ZeroShotClassification task(*tokenizer, model);
  EXPECT_NE(RunTask(task, R"({"inputs":[{"text":"sport"}]})").find("candidate_labels"), std::string::npos);
  EXPECT_NE(RunTask(task, R"({"inputs":[],"options":{"candidate_labels":["a"],"hypothesis_template":"x"}})").find("{}"),
            std::string::npos);
  EXPECT_TRUE(
      RunTask(task, R"({"inputs":[{"text":""}],"options":{"candidate_labels":["art"]}})").starts_with("empty_text"));
  FakeModel one(LabelConfig({"score"}), false, ByLastToken({{0}}));
  ZeroShotClassification wrong(*tokenizer, one);
  EXPECT_TRUE(RunTask(wrong, R"({"inputs":[],"options":{"candidate_labels":["art"]}})").starts_with("unsupported"));
}

TEST(TextRanking, SortsDocumentsAndKeepsEqualOnesInOrder) {
  auto tokenizer = WordTokenizer("low high");
  FakeModel model(LabelConfig({"score"}), false, ByLastToken({{-1}, {2}}));
  TextRanking task(*tokenizer, model);
  const std::string input = R"({"inputs":[{"query":"high","documents":["low","high","low"]}],"options":{)";
  const std::string result = RunTask(task, input + R"("return_documents":true}})");
  EXPECT_TRUE(result.starts_with(R"([[{"corpus_id":1,"score":0.88)")) << result;
  EXPECT_LT(result.find("\"corpus_id\":0"), result.find("\"corpus_id\":2"));
  EXPECT_NE(result.find(R"("text":"high")"), std::string::npos);
  EXPECT_NE(RunTask(task, input + R"("function_to_apply":"none","top_k":1}})").find(R"([[{"corpus_id":1,"score":2}]])"),
            std::string::npos);
}

TEST(TextRanking, NeedsAModelWithOneLabel) {
  auto tokenizer = WordTokenizer("low high");
  FakeModel model(LabelConfig({"a", "b"}), false, ByLastToken({{0, 1}}));
  TextRanking task(*tokenizer, model);
  EXPECT_TRUE(RunTask(task, R"({"inputs":[]})").starts_with("unsupported"));
}

TEST(MultipleChoice, GivesProbabilitiesOverTheChoices) {
  auto tokenizer = WordTokenizer("one two");
  FakeModel model(LabelConfig({"score"}), false, ByLastToken({{0}, {1.0986123f}}));
  MultipleChoice task(*tokenizer, model);
  const std::string result = RunTask(task, R"({"inputs":[{"prompt":"one","choices":["one","two"]}]})");
  EXPECT_TRUE(result.starts_with(R"([[{"choice":1,"score":0.75)")) << result;
  EXPECT_TRUE(RunTask(task, R"({"inputs":[{"prompt":"one"}]})").starts_with("invalid_argument"));
}

}  // namespace
}  // namespace peruse
