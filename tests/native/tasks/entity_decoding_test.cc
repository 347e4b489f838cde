#include "core/tasks/labels/entity_decoding.h"

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "tests/native/models/fixtures.h"

namespace peruse {
namespace {

TEST(SplitWords, FindsTheWordsOfThePackage) {
  const std::string file = testing::ReadFixture("gliner/words.json");
  const Result<JsonDocument> items = JsonDocument::Parse(file);
  ASSERT_TRUE(items.ok());
  ASSERT_GT(items->root().size(), 5u);
  for (const JsonValue item : items->root()) {
    const std::string text(*item.FindMember("text").GetString());
    std::vector<text::Offset> expected;
    for (const JsonValue word : item.FindMember("words")) {
      expected.push_back({static_cast<int32_t>(*word[0].GetInt64()), static_cast<int32_t>(*word[1].GetInt64())});
    }
    EXPECT_EQ(SplitWords(text), expected) << text;
  }
}

std::string Chosen(std::vector<EntityCandidate> candidates, const EntityRules& rules) {
  std::string text;
  for (const EntityCandidate& it : ChooseEntities(std::move(candidates), rules)) {
    text += std::to_string(it.first) + "-" + std::to_string(it.last) + ":" + std::to_string(it.label) + " ";
  }
  return text;
}

const std::vector<EntityCandidate> kCandidates = {{0, 2, 0, 0.6f}, {1, 1, 1, 0.9f}, {1, 1, 0, 0.8f},
                                                  {2, 3, 0, 0.7f}, {5, 5, 2, 0.6f}, {5, 5, 2, 0.95f}};

TEST(ChooseEntities, KeepsTheSurestThatDoNotConflict) {
  EXPECT_EQ(Chosen(kCandidates, {}), "1-1:1 2-3:0 5-5:2 ");
  EXPECT_EQ(Chosen(kCandidates, {.multi_label = true}), "1-1:1 1-1:0 2-3:0 5-5:2 ");
  // 0-2 contains 1-1, but overlaps 2-3, which has a higher score.
  EXPECT_EQ(Chosen(kCandidates, {.flat = false}), "1-1:1 2-3:0 5-5:2 ");
  EXPECT_EQ(Chosen({{0, 2, 0, 0.6f}, {1, 1, 1, 0.9f}}, {.flat = false}), "0-2:0 1-1:1 ");
}

TEST(ChooseEntities, OfEqualScoresTheFirstCounts) {
  EXPECT_EQ(Chosen({{1, 2, 1, 0.5f}, {0, 1, 1, 0.5f}, {0, 1, 0, 0.5f}}, {}), "0-1:0 ");
}

}  // namespace
}  // namespace peruse
