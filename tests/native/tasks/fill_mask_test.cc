#include "core/tasks/fill_mask.h"

#include <gtest/gtest.h>

#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

// Logits of a row: 0 for token 0, 1 for token 1, and so on; token 5 gets the row's number in addition.
class FillMaskTest : public ::testing::Test {
 protected:
  static std::vector<float> Logits(const ModelInput& input) {
    std::vector<float> logits;
    for (const int32_t id : input.ids) {
      if (id != 4) continue;  // the test only requests rows of masks
      for (int token = 0; token < 9; ++token) logits.push_back(token == 5 ? 10.0f : static_cast<float>(token));
    }
    return logits;
  }
  std::string Run(std::string_view request) {
    FakeModel model(LabelConfig({}), true, Logits);
    std::string result = RunTask<FillMask>(*tokenizer_, model, request);
    rows_ = model.logit_rows_asked;
    return result;
  }

  std::unique_ptr<text::Tokenizer> tokenizer_ = WordTokenizer("the dog barked cat");  // ids 5, 6, 7, 8
  std::vector<int32_t> rows_;
};

TEST_F(FillMaskTest, ScoresOnlyTheMasks) {
  const std::string result =
      Run(R"({"inputs": [{"text": "the [MASK] barked"}, {"text": "[MASK] dog [MASK]"}], "options": {"top_k": 1}})");
  EXPECT_EQ(rows_, (std::vector<int32_t>{2, 6, 8}));  // [CLS] the [MASK] barked [SEP] [CLS] [MASK] dog [MASK] [SEP]
  EXPECT_NE(result.find(R"("token":5,"token_str":"the","sequence":"the the barked"}])"), std::string::npos) << result;
  EXPECT_NE(result.find(R"("sequence":"[CLS] the dog [MASK] [SEP]")"), std::string::npos) << result;
  EXPECT_NE(result.find(R"("sequence":"[CLS] [MASK] dog the [SEP]")"), std::string::npos) << result;
}

TEST_F(FillMaskTest, KeepsToItsTargets) {
  // "cats" is not in the vocabulary and becomes [UNK]. A repeated target counts once.
  const std::string result =
      Run(R"({"inputs": [{"text": "[MASK]"}], "options": {"targets": ["cat", "dog", "cats", "dog"], "top_k": 9}})");
  const size_t cat = result.find("\"token\":8"), dog = result.find("\"token\":6"), unknown = result.find("\"token\":1");
  EXPECT_LT(cat, dog);
  EXPECT_LT(dog, unknown);
  EXPECT_NE(unknown, std::string::npos) << result;
  EXPECT_EQ(result.find("\"token\":5"), std::string::npos) << result;
  EXPECT_EQ(Run(R"({"inputs": [{"text": "[MASK]"}], "options": {"targets": [" "]}})"),
            "invalid_argument: option targets names no token");
}

TEST_F(FillMaskTest, NeedsAMask) {
  EXPECT_EQ(Run(R"({"inputs": [{"text": "[MASK]"}, {"text": "the dog"}]})"),
            "invalid_argument: input 1 has no mask token [MASK]");
  EXPECT_EQ(Run(R"({"inputs": [{"text": "[MASK]"}], "options": {"top_k": 0}})").substr(0, 16), "invalid_argument");
}

}  // namespace
}  // namespace peruse
