// Every case of the committed sample must come out exactly as the reference has it.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/native/text/case_json.h"
#include "tests/native/text/fixture_files.h"

namespace peruse::text {
namespace {

// The form that JsonWriter gives a value, so that strings can be compared.
void ExpectCase(const Tokenizer& tokenizer, JsonValue line) {
  const JsonValue test_case = line.FindMember("case");
  Result<std::string> got = EncodeCase(tokenizer, test_case);
  ASSERT_TRUE(got.ok()) << test_case.ToString() << ": " << got.status().message();
  EXPECT_EQ(*got, line.FindMember("windows").ToString()) << test_case.ToString();
  std::vector<int32_t> ids;
  for (JsonValue id : line.FindMember("windows")[0].FindMember("ids"))
    ids.push_back(static_cast<int32_t>(*id.GetInt64()));
  EXPECT_EQ(tokenizer.Decode(ids, true), line.FindMember("decoded").GetString()) << test_case.ToString();
}

class TokenizerConformance : public testing::TestWithParam<FixtureName> {};

TEST_P(TokenizerConformance, AgreesWithTheReference) {
  const auto tokenizer = LoadFixture(GetParam());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  const std::string cases = ReadFixtureFile(std::string(GetParam().name) + ".cases.jsonl");
  int count = 0;
  for (size_t start = 0; start < cases.size();) {
    const size_t end = cases.find('\n', start);
    const auto document = JsonDocument::Parse(std::string_view(cases).substr(start, end - start));
    ASSERT_TRUE(document.ok()) << document.status().message();
    ExpectCase(**tokenizer, document->root());
    start = end + 1;
    ++count;
  }
  EXPECT_GE(count, 200);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, TokenizerConformance, testing::ValuesIn(kFixtures),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace peruse::text
