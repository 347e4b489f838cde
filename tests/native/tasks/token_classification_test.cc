#include "core/tasks/token_classification.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>

#include "tests/native/tasks/fake_model.h"
#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

// O=0 B-PER=1 I-PER=2 LOC=3. The label of a token is `labels[id - 5]`, with a logit of 9.
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
  const std::string result =
      RunTask<TokenClassification>(*tokenizer, model, R"({"inputs":[{"text":"Anna Sewell wrote in Norwich"}]})");
  EXPECT_TRUE(result.starts_with(R"([[{"entity":"B-PER","score":0.99)")) << result;
  EXPECT_NE(result.find(R"("index":1,"word":"anna","start":0,"end":4)"), std::string::npos) << result;
  EXPECT_NE(result.find(R"("entity":"LOC")"), std::string::npos);
  EXPECT_EQ(result.find("wrote"), std::string::npos) << "O is left out";
}

TEST(TokenClassification, SimpleGroupsNeighboursAndCutsTheText) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  const std::string result = RunTask<TokenClassification>(
      *tokenizer, model, R"({"inputs":[{"text":"Anna Sewell wrote"}],"options":{"aggregation_strategy":"simple"}})");
  EXPECT_NE(result.find(R"("entity_group":"PER")"), std::string::npos) << result;
  EXPECT_NE(result.find(R"("word":"anna sewell","start":0,"end":11)"), std::string::npos) << result;
}

TEST(TokenClassification, ANewBeginningIsANewGroup) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  const std::string result = RunTask<TokenClassification>(
      *tokenizer, model, R"({"inputs":[{"text":"anna anna"}],"options":{"aggregation_strategy":"simple"}})");
  EXPECT_EQ(std::count(result.begin(), result.end(), '{'), 2) << result;
}

// The groups are those of transformers.js 4.3.2 (groupEntities): begin and end, in tokens.
TEST(TokenClassification, LabelsThatMarkEndsAreGroupedByThem) {
  using Groups = std::vector<std::pair<int, int>>;
  const std::pair<const char*, Groups> cases[] = {
      {"SSS", {{0, 1}, {1, 2}, {2, 3}}},
      {"BIE", {{0, 3}}},
      {"BES", {{0, 2}, {2, 3}}},
      {"EII", {{0, 3}}},
      {"EE", {{0, 2}}},
      {"SIE", {{0, 1}, {1, 3}}},
      {"BBE", {{0, 1}, {1, 3}}},
      {"IEI", {{0, 2}, {2, 3}}},
      {"EIESI", {{0, 3}, {3, 4}, {4, 5}}},
      {"BII", {{0, 3}}},
  };
  auto tokenizer = WordTokenizer("b i e s");
  for (const bool bilou : {false, true}) {
    const std::string letters = bilou ? "BILU" : "BIES";
    std::vector<std::string> labels = {"O"};
    for (const char letter : letters) labels.push_back(std::string(1, letter) + "-PER");
    FakeModel model(LabelConfig(labels), true, [](const ModelInput& input) {
      std::vector<float> logits(5 * input.ids.size());
      for (size_t t = 0; t < input.ids.size(); ++t) {
        logits[5 * t + static_cast<size_t>(std::max(input.ids[t] - 4, 0))] = 9;
      }
      return logits;
    });
    for (const auto& [sequence, groups] : cases) {
      std::string text;
      for (const char letter : std::string(sequence))
        text += std::string(text.empty() ? "" : " ") + static_cast<char>(std::tolower(letter));
      for (const char* strategy : {"simple", "first", "average", "max"}) {
        const std::string result = RunTask<TokenClassification>(
            *tokenizer, model,
            R"({"inputs":[{"text":")" + text + R"("}],"options":{"aggregation_strategy":")" + strategy + "\"}}");
        EXPECT_EQ(std::count(result.begin(), result.end(), '{'), static_cast<ptrdiff_t>(groups.size())) << result;
        for (const auto& [begin, end] : groups) {
          const std::string range =
              "\"start\":" + std::to_string(2 * begin) + ",\"end\":" + std::to_string(2 * end - 1) + "}";
          EXPECT_NE(result.find(range), std::string::npos) << sequence << " " << range << " " << result;
        }
        EXPECT_EQ(result.find("-PER"), std::string::npos) << result;
      }
    }
  }
}

// "E-MAIL" and "U-TURN" are names beside "PER": transformers' groups.
TEST(TokenClassification, ALetterBeforeAHyphenAloneMarksNoEnd) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(LabelConfig({"O", "E-MAIL", "B-PER", "PER"}), true, ByToken({1, 1, 1, 0, 0, 0, 0}));
  const std::string result = RunTask<TokenClassification>(
      *tokenizer, model, R"({"inputs":[{"text":"anna sewell wrote"}],"options":{"aggregation_strategy":"simple"}})");
  EXPECT_EQ(std::count(result.begin(), result.end(), '{'), 1) << result;
}

TEST(TokenClassification, FirstLabelsTheWholeWord) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));  // "##wich" alone would be O
  const std::string text = R"({"inputs":[{"text":"in Norwich"}],"options":{"aggregation_strategy":")";
  EXPECT_NE(RunTask<TokenClassification>(*tokenizer, model, text + "first\"}}")
                .find(R"("word":"norwich","start":3,"end":10)"),
            std::string::npos);
  EXPECT_NE(RunTask<TokenClassification>(*tokenizer, model, text + "max\"}}").find(R"("word":"norwich")"),
            std::string::npos);
  // Half LOC, half O: the lower label wins a tie, so no entity is found.
  EXPECT_EQ(RunTask<TokenClassification>(*tokenizer, model, text + "average\"}}"), "[[]]");
  EXPECT_NE(RunTask<TokenClassification>(*tokenizer, model, text + "simple\"}}").find(R"("word":"nor")"),
            std::string::npos);
}

// transformers raises KeyError as soon as a token has the label.
TEST(TokenClassification, ALabelWithoutANameIsNotNamedByUs) {
  auto tokenizer = WordTokenizer(kWords);
  ModelConfig config = Labels();
  config.nameless = {2};
  FakeModel model(config, true, ByToken(kLabels));
  for (const char* strategy : {"none", "simple", "first", "average", "max"}) {
    const auto run = [&](const std::string& text) {
      return RunTask<TokenClassification>(
          *tokenizer, model,
          R"({"inputs":[{"text":")" + text + R"("}],"options":{"aggregation_strategy":")" + strategy + "\"}}");
    };
    EXPECT_NE(run("anna wrote").find("PER"), std::string::npos);
    EXPECT_EQ(run("anna sewell"), "malformed_file: config.json: id2label has no name for label 2");
  }
}

TEST(TokenClassification, IgnoreLabels) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  const std::string result = RunTask<TokenClassification>(
      *tokenizer, model, R"({"inputs":[{"text":"wrote paris"}],"options":{"ignore_labels":["LOC"]}})");
  EXPECT_NE(result.find(R"("entity":"O")"), std::string::npos);
  EXPECT_EQ(result.find("LOC"), std::string::npos);
}

// Probabilities of "wrote": O 0.70, B-PER 0.04, I-PER 0.10, LOC 0.16.
TEST(TokenClassification, RecallTakesAnIgnoredLabelOnlyWhereItIsSure) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, [](const ModelInput& input) {
    std::vector<float> logits;
    for (size_t t = 0; t < input.ids.size(); ++t) {
      for (const float chance : {0.70F, 0.04F, 0.10F, 0.16F}) logits.push_back(std::log(chance));
    }
    return logits;
  });
  const auto run = [&](const std::string& options) {
    return RunTask<TokenClassification>(*tokenizer, model,
                                        R"({"inputs":[{"text":"wrote"}],"options":{)" + options + "}}");
  };
  EXPECT_EQ(run(""), "[[]]");
  EXPECT_EQ(run(R"("recall":0.69)"), "[[]]");
  for (const char* strategy : {"none", "simple", "first", "average", "max"}) {
    const std::string found = run(R"("recall":0.71,"aggregation_strategy":")" + std::string(strategy) + '"');
    EXPECT_NE(found.find(R"("LOC","score":0.1)"), std::string::npos) << found;
  }
  EXPECT_NE(run(R"("recall":0.71,"ignore_labels":["O","LOC"])").find(R"("entity":"I-PER")"), std::string::npos);
  EXPECT_EQ(run(R"("recall":1,"ignore_labels":["O","LOC","B-PER","I-PER"])"), "[[]]");
  EXPECT_EQ(run(R"("recall":1.5)"), "invalid_argument: option recall must be a number from 0 to 1");
}

// Probabilities of having the label O: "anna" 0.2, "nor" 0.7, "##wich" 0.4; of B-PER: 0.5, 0.1, 0.3.
TEST(TokenClassification, CertaintyIsTheHighestOfTheTokensNotToBeIgnored) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, [](const ModelInput& input) {
    std::vector<float> logits;
    for (const int32_t id : input.ids) {
      const std::vector<float> chances = id == 5   ? std::vector<float>{0.2F, 0.5F, 0.2F, 0.1F}
                                         : id == 9 ? std::vector<float>{0.7F, 0.1F, 0.15F, 0.05F}
                                                   : std::vector<float>{0.4F, 0.3F, 0.25F, 0.05F};
      for (const float chance : chances) logits.push_back(std::log(chance));
    }
    return logits;
  });
  const auto run = [&](const std::string& text, const std::string& options) {
    return RunTask<TokenClassification>(*tokenizer, model,
                                        R"({"inputs":[{"text":")" + text + R"("}],"options":{)" + options + "}}");
  };
  const auto certainty = [&](const std::string& text, const std::string& options) {
    const std::string found = run(text, R"("certainty":true,)" + options);
    const size_t at = found.find(R"("certainty":)");
    return at == std::string::npos ? -1 : std::stof(found.substr(at + 12));
  };
  EXPECT_EQ(run("anna", R"("aggregation_strategy":"average")").find("certainty"), std::string::npos);
  EXPECT_NEAR(certainty("anna", R"("aggregation_strategy":"none")"), 0.8, 1e-6);
  EXPECT_NEAR(certainty("anna", R"("ignore_labels":["O","LOC"])"), 0.7, 1e-6);
  EXPECT_NEAR(certainty("norwich", R"("aggregation_strategy":"average","recall":1)"), 0.6, 1e-6);
  EXPECT_NEAR(certainty("norwich", R"("aggregation_strategy":"first","recall":1)"), 0.6, 1e-6);
  EXPECT_NEAR(certainty("anna norwich", R"("aggregation_strategy":"simple","recall":1)"), 0.8, 1e-6);
  EXPECT_NEAR(certainty("nor anna", R"("aggregation_strategy":"none","recall":1)"), 0.3, 1e-6);
}

TEST(TokenClassification, LongTextsAreReadInWindowsWithoutDoubles) {
  auto tokenizer = WordTokenizer(kWords, R"({"model_max_length": 6})");
  FakeModel model(Labels(), true, ByToken(kLabels));
  const std::string text = R"({"inputs":[{"text":"in in paris in in paris wrote paris"}],"options":{)";
  EXPECT_TRUE(RunTask<TokenClassification>(*tokenizer, model, text + "}}").starts_with("text_too_long"))
      << RunTask<TokenClassification>(*tokenizer, model, text + "}}");
  EXPECT_TRUE(
      RunTask<TokenClassification>(*tokenizer, model, text + R"("stride":2}})").starts_with("invalid_argument"));
  const std::string result =
      RunTask<TokenClassification>(*tokenizer, model, text + R"("stride":2,"aggregation_strategy":"simple"}})");
  EXPECT_EQ(std::count(result.begin(), result.end(), '{'), 3) << result;
  EXPECT_NE(result.find(R"("start":30,"end":35)"), std::string::npos) << result;
}

// Entities that later windows cannot change are returned early.
TEST(TokenClassification, EntitiesOfALongTextComeOneAfterTheOther) {
  auto tokenizer = WordTokenizer(kWords, R"({"model_max_length": 512})");
  FakeModel model(Labels(), true, ByToken(kLabels));
  std::string text;
  for (int i = 0; i < 1500; ++i) text += i % 7 == 0 ? "paris " : i % 5 == 0 ? "anna sewell " : "wrote ";
  const std::string request = R"({"inputs":[{"text":")" + text + R"("}],"options":{"aggregation_strategy":"simple")";
  Collecting<TokenClassification> windows({*tokenizer, model});
  ASSERT_TRUE(RunRequest(&windows, request + R"(,"stride":100}})").ok());
  EXPECT_GT(model.runs, 1);
  EXPECT_GT(windows.parts, 3u);
  auto unlimited = WordTokenizer(kWords);
  Collecting<TokenClassification> whole({*unlimited, model});
  ASSERT_TRUE(RunRequest(&whole, request + "}}").ok());
  const auto spans = [](const std::vector<Entity>& entities) {
    std::vector<std::string> found;
    for (const Entity& e : entities) {
      found.push_back(e.label + " " + e.word + " " + std::to_string(e.span.start) + "-" + std::to_string(e.span.end));
    }
    return found;
  };
  EXPECT_EQ(spans(windows.results[0]), spans(whole.results[0]));
  EXPECT_GT(whole.results[0].size(), 300u);
}

TEST(TokenClassification, WindowsMayBeShorterThanTheModelTakes) {
  auto tokenizer = WordTokenizer(kWords);
  ModelConfig config = Labels();
  config.max_position_embeddings = 16;
  FakeModel model(config, true, ByToken(kLabels));
  std::string text;
  for (int i = 0; i < 100; ++i) text += "in paris ";
  const std::string request = R"({"inputs":[{"text":")" + text + R"("}],"options":{"aggregation_strategy":"simple",)";
  const auto longest = [&](const std::string& options) {
    const std::string result = RunTask<TokenClassification>(*tokenizer, model, request + options + "}}");
    EXPECT_EQ(std::count(result.begin(), result.end(), '{'), 100) << result.substr(0, 200);
    return model.batch().longest();
  };
  EXPECT_EQ(longest(R"("stride":3,"max_length":10)"), 10);
  EXPECT_EQ(longest(R"("windows":true)"), 16);
  EXPECT_EQ(longest(R"("windows":true,"max_length":12)"), 12);
  EXPECT_EQ(longest(R"("stride":3)"), 202) << "the model has no limit";
  EXPECT_TRUE(RunTask<TokenClassification>(*tokenizer, model, request + R"("max_length":10}})")
                  .starts_with("invalid_argument: option max_length"));
}

TEST(TokenClassification, WindowsFromTheLeftSideAreReadFromTheFront) {
  auto tokenizer = WordTokenizer(kWords, R"({"truncation_side":"left"})");
  FakeModel model(Labels(), true, ByToken(kLabels));
  const std::string result =
      RunTask<TokenClassification>(*tokenizer, model,
                                   R"({"inputs":[{"text":"in in paris in in paris wrote paris"}],)"
                                   R"("options":{"aggregation_strategy":"simple","stride":1,"max_length":6}})");
  EXPECT_EQ(std::count(result.begin(), result.end(), '{'), 3) << result;
  EXPECT_LT(result.find(R"("start":6)"), result.find(R"("start":30)")) << result;
}

// If the vocabulary does not mark continuations, a token without a preceding space continues the word.
TEST(TokenClassification, WithoutMarkedContinuationsSpacesPartWords) {
  text::TokenizerFiles files;
  files.emplace("tokenizer.json", R"({"version":"1.0","pre_tokenizer":{"type":"Whitespace"},"model":{"type":"WordLevel",
      "unk_token":"?","vocab":{"?":0,"anna":5,"-":6,"sewell":7,"wrote":8}}})");
  const auto tokenizer = text::Tokenizer::Create(files);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  FakeModel model(Labels(), true, ByToken({1, 0, 3, 0}));
  const auto run = [&](const std::string& strategy) {
    return RunTask<TokenClassification>(
        **tokenizer, model,
        R"({"inputs":[{"text":"anna-sewell wrote"}],"options":{"aggregation_strategy":")" + strategy + "\"}}");
  };
  const std::string first = run("first");
  EXPECT_NE(first.find(R"("entity_group":"PER")"), std::string::npos) << first;
  EXPECT_NE(first.find(R"("start":0,"end":11)"), std::string::npos) << first;
  const std::string simple = run("simple");
  EXPECT_NE(simple.find(R"("start":0,"end":4)"), std::string::npos) << simple;
  EXPECT_NE(simple.find(R"("start":5,"end":11)"), std::string::npos) << simple;
}

// Also if the tokenizer adds no special tokens.
TEST(TokenClassification, FindsNothingInAnEmptyText) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  const std::string request =
      R"({"inputs":[{"text":" "},{"text":""},{"text":"","words":[]}],"options":{"ignore_labels":[]}})";
  EXPECT_EQ(RunTask<TokenClassification>(*tokenizer, model, request), "[[],[],[]]");
  text::TokenizerFiles files;
  files.emplace("tokenizer.json", R"({"version":"1.0","model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0}}})");
  const auto plain = text::Tokenizer::Create(files);
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_EQ(RunTask<TokenClassification>(**plain, model, R"({"inputs":[{"text":""}]})"), "[[]]");
}

TEST(TokenClassification, RefusesBadOptionsByName) {
  auto tokenizer = WordTokenizer(kWords);
  FakeModel model(Labels(), true, ByToken(kLabels));
  EXPECT_NE(
      RunTask<TokenClassification>(*tokenizer, model, R"({"inputs":[],"options":{"aggregation_strategy":"best"}})")
          .find("best"),
      std::string::npos);
  EXPECT_NE(RunTask<TokenClassification>(*tokenizer, model, R"({"inputs":[],"options":{"ignore_labels":"O"}})")
                .find("ignore_labels"),
            std::string::npos);
  // Also if the model does not limit the length.
  EXPECT_NE(RunTask<TokenClassification>(*tokenizer, model,
                                         R"({"inputs":[],"options":{"aggregation_strategy":"first","stride":"two"}})")
                .find("stride"),
            std::string::npos);
}

}  // namespace
}  // namespace peruse
