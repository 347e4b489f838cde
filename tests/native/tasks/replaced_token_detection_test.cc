#include "core/tasks/replaced_token_detection.h"

#include <gtest/gtest.h>

#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

// "the" has logit 0, "dog" ln 3, every other token -ln 3: probabilities of 1/2, 3/4 and 1/4.
std::vector<float> Logits(const ModelInput& input) {
  constexpr float kLn3 = 1.0986123f;
  std::vector<float> logits;
  for (const int32_t id : input.ids) logits.push_back(id == 5 ? 0 : id == 6 ? kLn3 : -kLn3);
  return logits;
}

std::string Detect(std::string_view request) {
  const auto tokenizer = WordTokenizer("the dog barked");
  FakeModel model(LabelConfig({}), true, Logits);
  return RunTask<ReplacedTokenDetection>(*tokenizer, model, request);
}

// A score of exactly 1/2 is not a replacement, as in transformers' example. Spans are UTF-16 indices.
TEST(ReplacedTokenDetection, SaysWhichTokensWereReplaced) {
  const std::string result = Detect(R"({"inputs":[{"text":"the 😀 dog"},{"text":"barked"}]})");
  EXPECT_EQ(result, R"([[{"word":"the","score":0.5,"replaced":false,"index":1,"start":0,"end":3},)"
                    R"({"word":"[UNK]","score":0.25,"replaced":false,"index":2,"start":4,"end":6},)"
                    R"({"word":"dog","score":0.75,"replaced":true,"index":3,"start":7,"end":10}],)"
                    R"([{"word":"barked","score":0.25,"replaced":false,"index":1,"start":0,"end":6}]])");
}

TEST(ReplacedTokenDetection, RefusesWhatItCannotRead) {
  EXPECT_EQ(Detect(R"({"inputs":[{"text":" "}]})"), "[[]]");
  EXPECT_TRUE(Detect(R"({"inputs":[{"text":3}]})").starts_with("invalid_argument"))
      << Detect(R"({"inputs":[{"text":3}]})");
}

}  // namespace
}  // namespace peruse
