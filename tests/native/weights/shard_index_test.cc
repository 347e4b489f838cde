#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/weights/checkpoint.h"

namespace peruse {
namespace {

std::string IndexOf(const std::string& file) { return R"({"weight_map": {"a": ")" + file + R"("}})"; }

TEST(ShardIndex, NamesAllFilesOnce) {
  const auto index =
      ParseShardIndex(R"({"weight_map": {"a": "model-1.safetensors", "b": "model-1.safetensors", "c": "..2"}})");
  EXPECT_FALSE(index.ok());  // of its third name
  const auto plain = ParseShardIndex(R"({"weight_map": {"a": "1.safetensors", "b": "1.safetensors"}})");
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  EXPECT_EQ(plain->tensors, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(plain->files.size(), 1u);
}

TEST(ShardIndex, RefusesNamesThatAreNotThoseOfFilesInTheFolder) {
  for (const char* name :
       {"", ".", ".hidden", "../model.safetensors", "a/b", "a\\\\b", "http:x", "a?b", "a#b", "a%2fb"}) {
    const auto index = ParseShardIndex(IndexOf(name));
    ASSERT_FALSE(index.ok()) << name;
    EXPECT_EQ(index.status().code(), StatusCode::kMalformedFile) << name;
    EXPECT_NE(index.status().message().find("plain name"), std::string::npos) << index.status().message();
  }
  EXPECT_TRUE(ParseShardIndex(IndexOf("model-00001-of-00002.safetensors")).ok());
}

}  // namespace
}  // namespace peruse
