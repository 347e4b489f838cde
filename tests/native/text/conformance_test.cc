#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tests/native/text/case_json.h"
#include "tests/native/text/fixture_files.h"

namespace peruse::text {
namespace {

std::vector<int32_t> Ids(JsonValue json) {
  std::vector<int32_t> ids;
  for (JsonValue id : json) ids.push_back(static_cast<int32_t>(*id.GetInt64()));
  return ids;
}

int ForEachLine(const std::string& name, const std::function<void(JsonValue)>& check) {
  const std::string lines = ReadFixtureFile(name);
  int count = 0;
  for (size_t start = 0; start < lines.size(); ++count) {
    const size_t end = lines.find('\n', start);
    const auto document = JsonDocument::Parse(std::string_view(lines).substr(start, end - start));
    EXPECT_TRUE(document.ok()) << document.status().message();
    if (!document.ok()) return count;
    check(document->root());
    start = end + 1;
  }
  return count;
}

// Returns the value as JsonWriter writes it, so that strings can be compared.
void ExpectCase(const Tokenizer& tokenizer, JsonValue line) {
  const JsonValue test_case = line.FindMember("case");
  Result<std::string> got = EncodeCase(tokenizer, test_case);
  ASSERT_TRUE(got.ok()) << test_case.ToString() << ": " << got.status().message();
  EXPECT_EQ(*got, line.FindMember("windows").ToString()) << test_case.ToString();
  const std::vector<int32_t> ids = Ids(line.FindMember("windows")[0].FindMember("ids"));
  EXPECT_EQ(tokenizer.Decode(ids, true), line.FindMember("decoded").GetString()) << test_case.ToString();
}

class TokenizerConformance : public testing::TestWithParam<FixtureName> {};

TEST_P(TokenizerConformance, AgreesWithTheReference) {
  const auto tokenizer = LoadFixture(GetParam());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  const int count = ForEachLine(std::string(GetParam().name) + ".cases.jsonl",
                                [&](JsonValue line) { ExpectCase(**tokenizer, line); });
  EXPECT_GE(count, 200);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, TokenizerConformance, testing::ValuesIn(kFixtures),
                         [](const auto& info) { return std::string(info.param.name); });

// A tokenizer.json of a few tokens for each part that the other fixtures lack.
TEST(TokenizerParts, AgreeWithTheReference) {
  const int count = ForEachLine("parts.jsonl", [](JsonValue line) {
    SCOPED_TRACE(line.FindMember("name").GetString().value_or(""));
    const std::string file = line.FindMember("tokenizer").ToString();
    // Without it, the tokenizer's class removes the space before a text.
    const auto tokenizer =
        Tokenizer::Create({{"tokenizer.json", file}, {"tokenizer_config.json", R"({"add_prefix_space":true})"}});
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    for (JsonValue test_case : line.FindMember("cases")) ExpectCase(**tokenizer, test_case);
    for (JsonValue decoding : line.FindMember("decodings")) {
      EXPECT_EQ((*tokenizer)->Decode(Ids(decoding.FindMember("ids")), true), decoding.FindMember("decoded").GetString())
          << decoding.ToString();
    }
  });
  EXPECT_GE(count, 30);
}

}  // namespace
}  // namespace peruse::text
