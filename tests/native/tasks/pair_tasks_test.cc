#include <gtest/gtest.h>

#include "core/tasks/multiple_choice.h"
#include "core/tasks/text_ranking.h"
#include "core/tasks/zero_shot_classification.h"
#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

// Returns the `logits` of the input's last ordinary token (before the final [SEP]); ids start at 5.
FakeModel::LogitsOf ByLastToken(std::vector<std::vector<float>> logits) {
  return [=](const ModelInput& input) { return logits[static_cast<size_t>(input.ids[input.ids.size() - 2] - 5)]; };
}

TEST(ZeroShotClassification, SharesTheProbabilityAmongLabels) {
  auto tokenizer = WordTokenizer("sport art about");
  FakeModel model(LabelConfig({"contradiction", "neutral", "ENTAILMENT"}), false,
                  ByLastToken({{0, 0, 1.0986123f}, {0, 9, 0}}));
  const std::string result =
      RunTask<ZeroShotClassification>(*tokenizer, model,
                                      R"({"inputs":[{"text":"sport"}],"options":{"candidate_labels":["art","sport"],)"
                                      R"("hypothesis_template":"about {}"}})");
  EXPECT_TRUE(result.starts_with(R"([{"labels":["sport","art"],"scores":[0.75)")) << result;
}

TEST(ZeroShotClassification, MultiLabelJudgesEachByItself) {
  auto tokenizer = WordTokenizer("sport art about");
  // The contradiction is the last label.
  FakeModel model(LabelConfig({"entailment", "neutral", "contradiction"}), false,
                  ByLastToken({{0, 5, 0}, {1.0986123f, 5, 0}}));
  const std::string result =
      RunTask<ZeroShotClassification>(*tokenizer, model,
                                      R"({"inputs":[{"text":"sport"}],"options":{"candidate_labels":["sport","art"],)"
                                      R"("hypothesis_template":"about {}","multi_label":true}})");
  EXPECT_NE(result.find(R"("labels":["art","sport"],"scores":[0.75)"), std::string::npos) << result;
  EXPECT_NE(result.find(",0.5]"), std::string::npos) << result;
}

// As in transformers: the first match in label2id, in file order, regardless of id2label.
TEST(ZeroShotClassification, FindsEntailmentByLabel2Id) {
  auto tokenizer = WordTokenizer("sport art about");
  ModelConfig config = LabelConfig({"LABEL_0", "LABEL_1", "LABEL_2"});
  config.label2id = {{"neutral", 1}, {"Entailment", 2}, {"entail", 0}};
  FakeModel model(config, false, ByLastToken({{0, 0, 1.0986123f}, {0, 0, 0}}));
  const std::string result = RunTask<ZeroShotClassification>(
      *tokenizer, model,
      R"({"inputs":[{"text":"sport"}],"options":{"candidate_labels":["art","sport"],"hypothesis_template":"about {}"}})");
  EXPECT_TRUE(result.starts_with(R"([{"labels":["sport","art"],"scores":[0.75)")) << result;
}

TEST(ZeroShotClassification, FindsEntailmentById2LabelWhereLabel2IdNamesNone) {
  auto tokenizer = WordTokenizer("sport art about");
  ModelConfig config = LabelConfig({"neutral", "entailment", "contradiction"});
  config.label2id = {{"LABEL_0", 0}, {"LABEL_1", 1}, {"LABEL_2", 2}};
  FakeModel model(config, false, ByLastToken({{0, 1.0986123f, 0}, {0, 0, 0}}));
  const std::string result = RunTask<ZeroShotClassification>(
      *tokenizer, model,
      R"({"inputs":[{"text":"sport"}],"options":{"candidate_labels":["art","sport"],"hypothesis_template":"about {}"}})");
  EXPECT_TRUE(result.starts_with(R"([{"labels":["sport","art"],"scores":[0.75)")) << result;
}

TEST(ZeroShotClassification, NeedsAnEntailmentLabel) {
  auto tokenizer = WordTokenizer("sport art about");
  FakeModel model(LabelConfig({"NEGATIVE", "POSITIVE"}), false, ByLastToken({{0, 1}, {1, 0}}));
  const std::string result = RunTask<ZeroShotClassification>(
      *tokenizer, model, R"({"inputs":[{"text":"sport"}],"options":{"candidate_labels":["art"]}})");
  EXPECT_TRUE(result.starts_with("unsupported")) << result;
  EXPECT_NE(result.find("this one has NEGATIVE, POSITIVE"), std::string::npos) << result;
}

TEST(ZeroShotClassification, ReadsAnEmptyTextByItsSpecialTokens) {
  auto tokenizer = WordTokenizer("sport art about");
  FakeModel model(LabelConfig({"contradiction", "entailment"}), false, ByLastToken({{0, 1.0986123f}, {0, 0}}));
  const std::string result = RunTask<ZeroShotClassification>(
      *tokenizer, model,
      R"({"inputs":[{"text":""}],"options":{"candidate_labels":["art","sport"],"hypothesis_template":"about {}"}})");
  EXPECT_TRUE(result.starts_with(R"([{"labels":["sport","art"],"scores":[0.75)")) << result;
}

TEST(ZeroShotClassification, RefusesBadRequestsByName) {
  auto tokenizer = WordTokenizer("sport art about");
  FakeModel model(LabelConfig({"contradiction", "entailment"}), false, ByLastToken({{0, 1}, {1, 0}}));
  EXPECT_NE(
      RunTask<ZeroShotClassification>(*tokenizer, model, R"({"inputs":[{"text":"sport"}]})").find("candidate_labels"),
      std::string::npos);
  EXPECT_NE(RunTask<ZeroShotClassification>(
                *tokenizer, model, R"({"inputs":[],"options":{"candidate_labels":["a"],"hypothesis_template":"x"}})")
                .find("{}"),
            std::string::npos);
  FakeModel one(LabelConfig({"score"}), false, ByLastToken({{0}}));
  EXPECT_TRUE(
      RunTask<ZeroShotClassification>(*tokenizer, one, R"({"inputs":[],"options":{"candidate_labels":["art"]}})")
          .starts_with("unsupported"));
}

TEST(ZeroShotClassification, AHypothesisMustLeaveRoomForTheText) {
  auto tokenizer = WordTokenizer("sport art about");
  ModelConfig config = LabelConfig({"contradiction", "entailment"});
  config.max_tokens = 8;
  FakeModel model(config, false, ByLastToken({{0, 1}, {1, 0}}));
  EXPECT_EQ(
      RunTask<ZeroShotClassification>(
          *tokenizer, model, R"({"inputs":[{"text":"sport"}],"options":{"candidate_labels":["art art art art art"]}})"),
      "text_too_long: the hypothesis for the label \"art art art art art\" leaves no room for the text: the model "
      "takes 8 tokens");
}

TEST(TextRanking, SortsDocumentsAndKeepsEqualOnesInOrder) {
  auto tokenizer = WordTokenizer("low high");
  FakeModel model(LabelConfig({"score"}), false, ByLastToken({{-1}, {2}}));
  const std::string input = R"({"inputs":[{"query":"high","documents":["low","high","low"]}],"options":{)";
  const std::string result = RunTask<TextRanking>(*tokenizer, model, input + "}}");
  EXPECT_TRUE(result.starts_with(R"([[{"corpus_id":1,"score":0.88)")) << result;
  EXPECT_LT(result.find("\"corpus_id\":0"), result.find("\"corpus_id\":2"));
  EXPECT_NE(RunTask<TextRanking>(*tokenizer, model, input + R"("function_to_apply":"none","top_k":1}})")
                .find(R"([[{"corpus_id":1,"score":2}]])"),
            std::string::npos);
}

// Both scores are 1 in float32.
TEST(TextRanking, SaturatedScoresKeepTheOrderOfTheirLogits) {
  auto tokenizer = WordTokenizer("low high");
  const std::string input = R"({"inputs":[{"query":"high","documents":["low","high"]}],"options":{)";
  FakeModel one(LabelConfig({"score"}), false, ByLastToken({{20}, {25}}));
  EXPECT_EQ(RunTask<TextRanking>(*tokenizer, one, input + "}}"),
            R"([[{"corpus_id":1,"score":1},{"corpus_id":0,"score":1}]])");
  FakeModel few(LabelConfig({"no", "yes"}), false, ByLastToken({{-20, 20}, {-25, 22}}));
  EXPECT_TRUE(RunTask<TextRanking>(*tokenizer, few, input + R"("label":"yes","function_to_apply":"softmax"}})")
                  .starts_with(R"([[{"corpus_id":1,"score":1,)"));
}

TEST(TextRanking, NoDocumentsGiveNoResults) {
  auto tokenizer = WordTokenizer("low high");
  FakeModel model(LabelConfig({"score"}), false, ByLastToken({{-1}, {2}}));
  EXPECT_EQ(RunTask<TextRanking>(*tokenizer, model,
                                 R"({"inputs":[{"query":"low","documents":[]},{"query":"low","documents":["high"]}],)"
                                 R"("options":{"function_to_apply":"none"}})"),
            R"([[],[{"corpus_id":0,"score":2}]])");
}

TEST(TextRanking, ReadsAnEmptyQueryByItsSpecialTokens) {
  auto tokenizer = WordTokenizer("low high");
  FakeModel model(LabelConfig({"score"}), false, ByLastToken({{-1}, {2}}));
  EXPECT_EQ(RunTask<TextRanking>(*tokenizer, model,
                                 R"({"inputs":[{"query":" ","documents":["low","high"]}],)"
                                 R"("options":{"function_to_apply":"none"}})"),
            R"([[{"corpus_id":1,"score":2},{"corpus_id":0,"score":-1}]])");
}

TEST(TextRanking, RanksByOneOfSeveralLabels) {
  auto tokenizer = WordTokenizer("low high");
  FakeModel model(LabelConfig({"no", "yes"}), false, ByLastToken({{1, -1}, {0, 2}}));
  const std::string inputs = R"({"inputs":[{"query":"high","documents":["low","high"]}],"options":{)";
  EXPECT_EQ(RunTask<TextRanking>(*tokenizer, model, inputs + R"("label":"yes"}})"),
            R"([[{"corpus_id":1,"score":2,"scores":[0,2]},{"corpus_id":0,"score":-1,"scores":[1,-1]}]])");
  EXPECT_TRUE(RunTask<TextRanking>(*tokenizer, model, inputs + R"("label":"no","function_to_apply":"softmax"}})")
                  .starts_with(R"([[{"corpus_id":0,"score":0.88)"));
  for (const char* label : {"", R"("label":"maybe")"}) {
    const std::string refused = RunTask<TextRanking>(*tokenizer, model, inputs + label + "}}");
    EXPECT_TRUE(refused.starts_with("invalid_argument")) << refused;
    EXPECT_NE(refused.find("one of no, yes"), std::string::npos) << refused;
  }
}

// transformers truncates to min(model_max_length, max_position_embeddings), even if the encoder accepts more.
TEST(TextRanking, CutsAtThePositionsOfTheConfiguration) {
  auto tokenizer = WordTokenizer("low high");
  size_t tokens = 0;
  ModelConfig config = LabelConfig({"score"});
  config.max_position_embeddings = 512;
  FakeModel model(config, false, [&](const ModelInput& input) {
    tokens = input.ids.size();
    return std::vector<float>{1};
  });
  std::string document;
  for (int i = 0; i < 2000; ++i) document += "low ";
  const std::string inputs = R"({"inputs":[{"query":"high","documents":[")" + document + R"("]}],"options":{)";
  EXPECT_TRUE(RunTask<TextRanking>(*tokenizer, model, inputs + "}}").starts_with("[["));
  EXPECT_EQ(tokens, 512u);
  EXPECT_TRUE(RunTask<TextRanking>(*tokenizer, model, inputs + R"("max_length":100}})").starts_with("[["));
  EXPECT_EQ(tokens, 100u);
  EXPECT_TRUE(RunTask<TextRanking>(*tokenizer, model, inputs + R"("max_length":1000}})").starts_with("[["));
  EXPECT_EQ(tokens, 1000u);
}

TEST(TextRanking, TheConfigurationNamesTheActivation) {
  auto tokenizer = WordTokenizer("low high");
  const auto run = [&](std::string_view activation, std::vector<std::string> labels) {
    ModelConfig config = LabelConfig(std::move(labels));
    config.ranking_activation = activation;
    FakeModel model(config, false, [&](const ModelInput&) { return std::vector<float>(config.id2label.size(), 2.0f); });
    const std::string label = config.id2label.size() > 1 ? R"(,"options":{"label":"a"})" : "";
    return RunTask<TextRanking>(*tokenizer, model, R"({"inputs":[{"query":"high","documents":["low"]}])" + label + "}");
  };
  EXPECT_NE(run("", {"a"}).find("0.8807"), std::string::npos);
  EXPECT_NE(run("", {"a", "b"}).find(R"("score":2,)"), std::string::npos);
  EXPECT_NE(run("torch.nn.modules.activation.Sigmoid", {"a", "b"}).find("0.8807"), std::string::npos);
  EXPECT_NE(run("torch.nn.modules.linear.Identity", {"a"}).find(R"("score":2})"), std::string::npos);
  for (const char* name : {"torch.nn.modules.activation.Tanh", "mine.Sigmoid", "Identity", "torch.nn.LogSigmoid"}) {
    const std::string refused = run(name, {"a"});
    EXPECT_TRUE(refused.starts_with("unsupported")) << refused;
    EXPECT_NE(refused.find(name), std::string::npos) << refused;
  }
}

TEST(MultipleChoice, GivesProbabilitiesOverTheChoices) {
  auto tokenizer = WordTokenizer("one two");
  FakeModel model(LabelConfig({"score"}), false, ByLastToken({{0}, {1.0986123f}}));
  const std::string result =
      RunTask<MultipleChoice>(*tokenizer, model, R"({"inputs":[{"prompt":"one","choices":["one","two"]}]})");
  EXPECT_TRUE(result.starts_with(R"([[{"choice":1,"score":0.75)")) << result;
  EXPECT_TRUE(
      RunTask<MultipleChoice>(*tokenizer, model, R"({"inputs":[{"prompt":"one"}]})").starts_with("invalid_argument"));
}

}  // namespace
}  // namespace peruse
