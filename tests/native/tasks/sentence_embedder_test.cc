#include "core/tasks/sentence_embedder.h"

#include <gtest/gtest.h>

#include "tests/native/tasks/task_testing.h"

namespace peruse {
namespace {

constexpr std::string_view kCased = R"({"do_lower_case":false})";

std::unique_ptr<SentenceEmbedder> Embedder(SentenceModules modules) {
  const auto nothing = [](const std::string&) -> std::optional<std::string_view> { return std::nullopt; };
  return SentenceEmbedder::Create(std::move(modules), nothing, 4).value();
}

ModelConfig Config(int32_t positions, int32_t max_tokens = ModelConfig::kUnlimited) {
  ModelConfig config;
  config.max_position_embeddings = positions;
  config.max_tokens = max_tokens;
  return config;
}

size_t Kept(SentenceModules modules, const ModelConfig& config, std::string_view tokenizer_config) {
  const auto tokenizer = WordTokenizer("a", tokenizer_config);
  const auto reading = Embedder(std::move(modules))->Read(*tokenizer, config, "", "a a a a a a a a a a a a a a a a");
  EXPECT_TRUE(reading.ok()) << reading.status().message();
  return reading.ok() ? reading->tokens.size() : 0;
}

TEST(SentenceEmbedderTest, TheFolderSaysHowMuchIsRead) {
  SentenceModules five;
  five.max_seq_length = 5;
  EXPECT_EQ(Kept({}, Config(512), "{}"), 18u);
  EXPECT_EQ(Kept({}, Config(9), "{}"), 9u) << "positions of config.json";
  EXPECT_EQ(Kept({}, Config(9), R"({"model_max_length":7})"), 7u);
  EXPECT_EQ(Kept({}, Config(9), R"({"model_max_length":11})"), 9u);
  EXPECT_EQ(Kept({}, Config(9), R"({"model_max_length":0})"), 9u);
  EXPECT_EQ(Kept(five, Config(9), R"({"model_max_length":7})"), 5u);
  five.max_seq_length = 12;  // has priority over other limits, but not over the model's
  EXPECT_EQ(Kept(five, Config(9), R"({"model_max_length":7})"), 12u);
  EXPECT_EQ(Kept(five, Config(9, 10), R"({"model_max_length":7})"), 10u);
}

TEST(SentenceEmbedderTest, LowerCaseComesBeforeTheTokenizer) {
  const auto tokenizer = WordTokenizer("a é i\xCC\x87 σ", kCased);
  const auto ids = [&](bool lower, std::string_view prompt, std::string_view text) {
    SentenceModules modules;
    modules.do_lower_case = lower;
    const auto reading = Embedder(modules)->Read(*tokenizer, Config(512), prompt, text);
    EXPECT_TRUE(reading.ok()) << reading.status().message();
    return reading.ok() ? reading->tokens.ids : std::vector<int32_t>();
  };
  EXPECT_EQ(ids(true, "A ", "É İ Σ"), (std::vector<int32_t>{2, 5, 6, 7, 8, 3}));
  EXPECT_EQ(ids(false, "A ", "É İ Σ"), (std::vector<int32_t>{2, 1, 1, 1, 1, 3}));
  const auto broken = [&] {
    SentenceModules modules;
    modules.do_lower_case = true;
    return Embedder(modules)->Read(*tokenizer, Config(512), "", "a\xFF").status().code();
  };
  EXPECT_EQ(broken(), StatusCode::kInvalidArgument);
}

// Counts the tokens of a prompt that is not pooled: [CLS] and the prompt's own tokens.
TEST(SentenceEmbedderTest, APromptCountsOrDoesNot) {
  const auto tokenizer = WordTokenizer("query a b", kCased);
  SentenceModules modules;
  modules.max_seq_length = 5;
  const auto read = [&](std::string_view prompt) {
    return Embedder(modules)->Read(*tokenizer, Config(512), prompt, "a b a b");
  };
  EXPECT_EQ(read("query ")->skip, 0u);
  modules.include_prompt = false;
  EXPECT_EQ(read("query ")->skip, 2u);
  EXPECT_EQ(read("query ")->tokens.ids, (std::vector<int32_t>{2, 5, 6, 7, 3}));
  EXPECT_EQ(read("")->skip, 0u);
  EXPECT_EQ(read("query query query query ")->skip, 4u) << "[SEP] alone is left";
}

TEST(SentenceEmbedderTest, APromptMustLeaveRoomForAText) {
  constexpr std::string_view kWithoutSpecialTokens =
      R"({"version":"1.0","pre_tokenizer":{"type":"WhitespaceSplit"},)"
      R"("model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"p":1,"a":2}}})";
  const auto tokenizer = text::Tokenizer::Create({{"tokenizer.json", kWithoutSpecialTokens}});
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  SentenceModules modules;
  modules.max_seq_length = 3;
  modules.include_prompt = false;
  const auto read = [&](std::string_view prompt) {
    return Embedder(modules)->Read(**tokenizer, Config(512), prompt, "a a");
  };
  EXPECT_EQ(read("p p ")->skip, 2u);
  const auto full = read("p p p ");
  EXPECT_EQ(full.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(full.status().message(), "the prompt leaves no room for a text: the model reads 3 tokens");
  modules.include_prompt = true;
  EXPECT_TRUE(read("p p p ").ok());
}

TEST(SentenceEmbedderTest, PromptsByName) {
  SentenceModules modules;
  modules.prompts = {{"passage", "p: "}, {"query", "q: "}};
  EXPECT_EQ(*PromptOf(modules, std::nullopt, std::nullopt), "");
  EXPECT_EQ(*PromptOf(modules, std::nullopt, "query"), "q: ");
  EXPECT_EQ(*PromptOf(modules, "mine ", std::nullopt), "mine ");
  modules.default_prompt = "passage";
  EXPECT_EQ(*PromptOf(modules, std::nullopt, std::nullopt), "p: ");
  EXPECT_EQ(*PromptOf(modules, "", std::nullopt), "") << "no prompt was asked for";
  EXPECT_EQ(PromptOf(modules, "a", "query").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PromptOf(modules, std::nullopt, "x").status().message(),
            "the model has no prompt \"x\"; it has passage, query");
  EXPECT_EQ(PromptOf({}, std::nullopt, "x").status().message(), "the model has no prompt \"x\"; it has none");
}

}  // namespace
}  // namespace peruse
