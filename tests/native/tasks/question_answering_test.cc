#include "core/tasks/question_answering.h"

#include <gtest/gtest.h>

#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

// Returns start and end logits that are `high` at tokens with these ids, otherwise zero.
FakeModel::LogitsOf Peaks(int32_t start_id, int32_t end_id, float high = 10) {
  return [=](const ModelInput& input) {
    std::vector<float> logits(2 * input.ids.size());
    for (size_t t = 0; t < input.ids.size(); ++t) {
      if (input.ids[t] == start_id) logits[2 * t] = high;
      if (input.ids[t] == end_id) logits[2 * t + 1] = high;
    }
    return logits;
  };
}

struct Fixture {
  // who=5 wrote=6 it=7 anna=8 sewell=9 the=10 book=11 is=12 old=13
  std::unique_ptr<text::Tokenizer> tokenizer = WordTokenizer("who wrote it anna sewell the book is old ##er");
};

TEST(QuestionAnswering, CutsTheAnswerOutOfTheContext) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 9));
  const std::string result = RunTask<QuestionAnswering>(
      *f.tokenizer, model, R"({"inputs":[{"question":"Who wrote it","context":"The book: Anna  Sewell wrote it"}]})");
  EXPECT_NE(result.find(R"("answer":"Anna  Sewell")"), std::string::npos) << result;
  EXPECT_NE(result.find(R"("start":10,"end":22)"), std::string::npos) << result;
}

TEST(QuestionAnswering, LongContextsTakeTimeInProportion) {
  Fixture f;
  const auto tokens_read = [&](size_t words) {
    FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 9));
    Collecting<QuestionAnswering> task({*f.tokenizer, model});
    task.request.inputs.push_back({"who wrote it", ""});
    for (size_t i = 0; i < words; ++i) task.request.inputs[0].context += i % 7 == 0 ? "anna " : "sewell ";
    EXPECT_TRUE(RunToEnd(task).ok());
    return static_cast<double>(task.tokens_read());
  };
  const double once = tokens_read(10000);
  EXPECT_GT(once, 10000);
  EXPECT_NEAR(tokens_read(20000) / once, 2, 0.05);
}

TEST(QuestionAnswering, OffsetsCountUtf16Units) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 8));
  // U+1F600 has four bytes, one code point, two UTF-16 units; e with acute accent two bytes, one unit.
  const std::string result = RunTask<QuestionAnswering>(
      *f.tokenizer, model, "{\"inputs\":[{\"question\":\"who\",\"context\":\"\xF0\x9F\x98\x80 \xC3\xA9 anna\"}]}");
  EXPECT_NE(result.find(R"("start":5,"end":9)"), std::string::npos) << result;
}

TEST(QuestionAnswering, TokensOfTheQuestionAreNoAnswer) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 8));
  const std::string result =
      RunTask<QuestionAnswering>(*f.tokenizer, model, R"({"inputs":[{"question":"anna","context":"the book"}]})");
  EXPECT_EQ(result.find("anna"), std::string::npos) << result;
}

TEST(QuestionAnswering, WidensToWordsUnlessTold) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(14, 14));  // ##er
  const std::string request = R"({"inputs":[{"question":"who","context":"the older book"}],"options":{)";
  EXPECT_NE(RunTask<QuestionAnswering>(*f.tokenizer, model, request + "}}").find(R"("answer":"older")"),
            std::string::npos);
  EXPECT_NE(
      RunTask<QuestionAnswering>(*f.tokenizer, model, request + R"("align_to_words":false}})").find(R"("answer":"er")"),
      std::string::npos);
}

TEST(QuestionAnswering, AnswersAreNoLongerThanAsked) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(10, 13));
  const std::string request =
      R"({"inputs":[{"question":"who","context":"the book is old"}],"options":{"max_answer_len":)";
  EXPECT_NE(RunTask<QuestionAnswering>(*f.tokenizer, model, request + "4}}").find(R"("answer":"the book is old")"),
            std::string::npos);
  EXPECT_EQ(RunTask<QuestionAnswering>(*f.tokenizer, model, request + "3}}").find(R"("answer":"the book is old")"),
            std::string::npos);
}

TEST(QuestionAnswering, EqualTextsOfSeveralWindowsAddUp) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 8, 30));
  // Window: [CLS] who [SEP] + 4 of the context + [SEP]. Two windows of four words share one.
  const std::string result = RunTask<QuestionAnswering>(
      *f.tokenizer, model,
      R"({"inputs":[{"question":"who","context":"Anna is old the book anna is"}],"options":{"max_length":8,"stride":1}})");
  EXPECT_EQ(model.runs, 1);
  EXPECT_NE(result.find(R"("answer":"Anna","score":2)"), std::string::npos) << result;
}

TEST(QuestionAnswering, ReadsEveryWindow) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 8));
  std::string context;
  for (int i = 0; i < 2000; ++i) context += "the book ";
  context += "anna";
  const std::string result = RunTask<QuestionAnswering>(
      *f.tokenizer, model, R"({"inputs":[{"question":"who","context":")" + context + R"("}],"options":{"top_k":1}})");
  EXPECT_NE(result.find(R"("answer":"anna")"), std::string::npos) << result.substr(0, 300);
}

TEST(QuestionAnswering, OffersTheEmptyAnswerWhenAsked) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(2, 2, 5));  // [CLS]
  const std::string request = R"({"inputs":[{"question":"who","context":"the book"}],"options":{)";
  EXPECT_NE(RunTask<QuestionAnswering>(*f.tokenizer, model, request + R"("handle_impossible_answer":true}})")
                .find(R"("answer":"","score":0.97)"),
            std::string::npos);
  EXPECT_EQ(RunTask<QuestionAnswering>(*f.tokenizer, model, request + "}}").find(R"("answer":"")"), std::string::npos);
}

TEST(QuestionAnswering, TopKGivesDifferentAnswersBestFirst) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 9, 1));
  const std::string result = RunTask<QuestionAnswering>(
      *f.tokenizer, model,
      R"({"inputs":[{"question":"who","context":"the book is old anna sewell"}],"options":{"top_k":3}})");
  EXPECT_EQ(std::count(result.begin(), result.end(), '{'), 3) << result;
  EXPECT_TRUE(result.starts_with(R"([[{"answer":"anna sewell")")) << result;
}

// Twice 2^31 - 5, plus ten, is 2^32, which a 32-bit size_t would take for 0.
TEST(QuestionAnswering, AHugeTopKGivesEveryAnswer) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 9, 1));
  const std::string result = RunTask<QuestionAnswering>(
      *f.tokenizer, model,
      R"({"inputs":[{"question":"who","context":"the book is old"}],"options":{"top_k":2147483643}})");
  EXPECT_EQ(std::count(result.begin(), result.end(), '{'), 10) << result;
}

TEST(QuestionAnswering, ABlankQuestionOrContextHasNoAnswer) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 8));
  EXPECT_EQ(RunTask<QuestionAnswering>(*f.tokenizer, model,
                                       R"({"inputs":[{"question":"","context":"the book"},)"
                                       R"({"question":"who","context":""},{"question":"who","context":" \t "},)"
                                       R"({"question":" ","context":"the book"},{"question":"","context":""}]})"),
            "[[],[],[],[],[]]");
}

TEST(QuestionAnswering, RefusesBadRequestsByName) {
  Fixture f;
  FakeModel model(LabelConfig({"s", "e"}), true, Peaks(8, 8));
  const auto expect = [&](std::string_view request, std::string_view code, std::string_view mention) {
    const std::string result = RunTask<QuestionAnswering>(*f.tokenizer, model, request);
    EXPECT_TRUE(result.starts_with(code)) << result;
    EXPECT_NE(result.find(mention), std::string::npos) << result;
  };
  expect(R"({"inputs":[{"context":"the book"}]})", "invalid_argument", "question");
  expect(R"({"inputs":[{"question":"who","context":"the"}],"options":{"stride":400}})", "invalid_argument",
         "option stride (400)");
  expect(R"({"inputs":[{"question":"who who who who who","context":"the book is"}],"options":{"max_length":8}})",
         "text_too_long", "question");
  EXPECT_TRUE(RunTask<QuestionAnswering>(*f.tokenizer, model, R"({"inputs":[{"question":"who","context":"anna"}]})")
                  .starts_with("[["));
  ModelConfig short_config = LabelConfig({"s", "e"});
  short_config.max_tokens = 16;
  FakeModel short_model(short_config, true, Peaks(8, 8));
  EXPECT_EQ(
      RunTask<QuestionAnswering>(*f.tokenizer, short_model,
                                 R"({"inputs":[{"question":"who","context":"the"}],"options":{"max_length":17}})"),
      "invalid_argument: option max_length is 17 and the model takes 16 tokens: use at most that many");
  FakeModel three(LabelConfig({"s", "e", "f"}), true,
                  [](const ModelInput& input) { return std::vector<float>(3 * input.ids.size()); });
  EXPECT_EQ(RunTask<QuestionAnswering>(*f.tokenizer, three, R"({"inputs":[{"question":"who","context":"anna"}]})"),
            "shape_mismatch: a question-answering head must have 2 outputs, start and end");
}

}  // namespace
}  // namespace peruse
