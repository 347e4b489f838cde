#include "core/text/models/trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace peruse::text {
namespace {

TEST(Trie, FindsExactlyItsKeys) {
  std::mt19937 random(1);
  std::map<std::string, int32_t> keys;
  for (int i = 0; i < 20000; ++i) {
    std::string key;
    for (int length = static_cast<int>(random() % 6); length >= 0; --length) key.push_back(static_cast<char>(random()));
    keys[key] = i;
  }
  keys[""] = 77;
  std::vector<std::pair<std::string_view, int32_t>> entries(keys.begin(), keys.end());
  const Trie trie = Trie::Create(entries).value();
  for (const auto& [key, value] : keys) ASSERT_EQ(trie.Find(key), value);
  for (int i = 0; i < 50000; ++i) {
    std::string key;
    for (int length = static_cast<int>(random() % 4); length >= 0; --length) key.push_back(static_cast<char>(random()));
    const auto known = keys.find(key);
    ASSERT_EQ(trie.Find(key), known == keys.end() ? Trie::kNone : known->second);
  }
}

TEST(Trie, TakesTheLastOfEqualKeys) {
  const Trie trie = Trie::Create({{"b", 1}, {"a", 2}, {"b", 3}, {"b", 4}}).value();
  EXPECT_EQ(trie.Find("b"), 4);
  EXPECT_EQ(trie.Find("a"), 2);
}

TEST(Trie, HoldsNothingAtFirst) {
  const Trie trie;
  EXPECT_EQ(trie.Find(""), Trie::kNone);
  EXPECT_EQ(trie.Find("a"), Trie::kNone);
  EXPECT_EQ(Trie::Create({{"x", 1}})->Find(std::string_view("\0", 1)), Trie::kNone);
}

TEST(Trie, HoldsLongKeysOfOneByte) {
  const std::string long_key(100000, 'x');
  const Trie trie = Trie::Create({{long_key, 5}, {std::string_view(long_key).substr(0, 3), 6}}).value();
  EXPECT_EQ(trie.Find(long_key), 5);
  EXPECT_EQ(trie.Find("xxx"), 6);
  EXPECT_EQ(trie.Find("xxxx"), Trie::kNone);
}

}  // namespace
}  // namespace peruse::text
