#include "core/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "core/base/json_writer.h"

namespace peruse {
namespace {

TEST(Json, HalfOfASurrogatePairIsRefused) {
  EXPECT_EQ(JsonDocument::Parse(R"(["\ud83d\ude00"])")->root()[0].GetString(), "\xF0\x9F\x98\x80");
  EXPECT_EQ(JsonDocument::Parse(R"(["\ud7ff\ue000"])")->root()[0].GetString(), "\xED\x9F\xBF\xEE\x80\x80");
  for (const char* text : {R"(["\ude00"])", R"({"\udfff":1})", R"(["\ud83d"])", R"(["\ud83d\u0041"])"}) {
    const auto document = JsonDocument::Parse(text);
    EXPECT_EQ(document.status().code(), StatusCode::kMalformedFile) << text;
  }
}

TEST(Json, ReadsEveryType) {
  auto document = JsonDocument::Parse(R"({"a":[1,-2.5,true,null,"x\u00e9\u0000y"],"b":{"c":9223372036854775807}})");
  ASSERT_TRUE(document.ok()) << document.status().message();
  const JsonValue root = document->root();
  const JsonValue a = root.FindMember("a");
  ASSERT_EQ(a.size(), 5u);
  EXPECT_EQ(a[0].GetInt64(), 1);
  EXPECT_EQ(a[1].GetDouble(), -2.5);
  EXPECT_EQ(a[1].GetInt64(), std::nullopt);
  EXPECT_EQ(a[2].GetBool(), true);
  EXPECT_TRUE(a[3].IsNull());
  EXPECT_EQ(a[4].GetString(), std::string_view("x\xC3\xA9\0y", 5));
  EXPECT_EQ(root.FindMember("b").FindMember("c").GetInt64(), INT64_MAX);
  EXPECT_FALSE(root.FindMember("missing").FindMember("deeper").exists());
  EXPECT_EQ(root.FindMember("missing").GetInt64(), std::nullopt);
  EXPECT_FALSE(a[5].exists());
  EXPECT_EQ(root.ToString(), "{\"a\":[1,-2.5,true,null,\"x\xC3\xA9\\u0000y\"],\"b\":{\"c\":9223372036854775807}}");
}

TEST(Json, KeepsFileOrderAndTheLastDuplicate) {
  auto document = JsonDocument::Parse(R"({"z":1,"a":2,"z":3})");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->root().MemberName(0), "z");
  EXPECT_EQ(document->root().MemberName(1), "a");
  EXPECT_EQ(document->root().MemberValue(1).GetInt64(), 2);
  const size_t members = document->root().size();
  EXPECT_FALSE(document->root().MemberValue(members).exists());
  EXPECT_EQ(document->root().MemberName(members), "");
  EXPECT_EQ(document->root().FindMember("z").GetInt64(), 3);
}

TEST(Json, IteratesOnlyArrays) {
  auto document = JsonDocument::Parse("[[3,4],{\"a\":1}]");
  ASSERT_TRUE(document.ok());
  int64_t sum = 0;
  for (JsonValue item : document->root()[0]) sum += item.GetInt64().value_or(100);
  for (JsonValue item : document->root()[1]) sum += item.exists() ? 1000 : 2000;
  EXPECT_EQ(sum, 7);
}

// RapidJSON 1.1 reads outside its table of powers for the first number, and shifts by 64 for the second.
TEST(Json, ExtremeNumbersAreJustNumbers) {
  const std::pair<const char*, double> cases[] = {{"9233.23333333338e-339", 0},
                                                  {"0e260", 0},
                                                  {"0.0e-400", 0},
                                                  {"-0", 0},
                                                  {"1e-320", 1e-320},
                                                  {"1.00000000000000000000000000000000001e-320", 1e-320},
                                                  {"4.9e-324", 4.9e-324},
                                                  {"1.7976931348623157e308", 1.7976931348623157e308},
                                                  {"9223372036854775808", 9223372036854775808.0},
                                                  {"0.000000000000000000000000000000000000000000000000001e51", 1}};
  for (const auto& [text, value] : cases) {
    auto document = JsonDocument::Parse("[" + std::string(text) + "]");
    ASSERT_TRUE(document.ok()) << text << ": " << document.status().message();
    EXPECT_EQ(document->root()[0].GetDouble(), value) << text;
  }
  auto wide = JsonDocument::Parse("[-9223372036854775808,9223372036854775807,9223372036854775808]");
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->root()[0].GetInt64(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(wide->root()[1].GetInt64(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(wide->root()[2].GetInt64(), std::nullopt);
}

TEST(Json, ReadsNumbersExactly) {
  auto document = JsonDocument::Parse("[1000000000000000019884624838656, 0.1, -9.6853122711181640625, 1.0]");
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->root()[0].GetDouble(), 1e30);
  EXPECT_EQ(document->root()[0].GetInt64(), std::nullopt);
  EXPECT_EQ(document->root()[1].GetDouble(), 0.1);
  EXPECT_EQ(document->root()[2].GetDouble(), -9.6853122711181640625);
  EXPECT_EQ(document->root()[3].GetInt64(), std::nullopt);
}

TEST(Json, RoundsNumbersAsTheCLibrary) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string text = std::to_string(random() >> random() % 64);
    if (i % 3 == 0) text += std::to_string(random());
    const size_t point = random() % text.size();
    if (point > 0) text.insert(point, ".");
    if (text[0] == '0') text = "1" + text;
    if (i % 2 == 0) text.insert(0, "-");
    auto document = JsonDocument::Parse("[" + text + "]");
    ASSERT_TRUE(document.ok()) << text << ": " << document.status().message();
    ASSERT_EQ(document->root()[0].GetDouble(), std::strtod(text.c_str(), nullptr)) << text;
  }
}

TEST(Json, ReadsPythonsNumbersThatAreNotFinite) {
  const auto document = JsonDocument::Parse(R"({"a":NaN,"b":Infinity,"c":[-Infinity,1.5]})");
  ASSERT_TRUE(document.ok()) << document.status().message();
  EXPECT_TRUE(std::isnan(*document->root().FindMember("a").GetDouble()));
  EXPECT_EQ(document->root().FindMember("b").GetDouble(), HUGE_VAL);
  EXPECT_EQ(document->root().FindMember("c")[0].GetDouble(), -HUGE_VAL);
  EXPECT_EQ(document->root().FindMember("b").GetInt64(), std::nullopt);
}

TEST(Json, RefusesMalformedText) {
  for (const std::string& text :
       {std::string(""), std::string("{"), std::string("[1,]"), std::string("{\"a\":1"), std::string("\"\xFF\""),
        std::string("\"\\ud800\""), std::string("[1] 2"), std::string("nan"), std::string("Infinite"),
        std::string("1\0 2", 4), std::string("[1e999]"), std::string("[\"a\nb\"]")}) {
    auto document = JsonDocument::Parse(text, "config.json");
    ASSERT_FALSE(document.ok()) << text;
    EXPECT_EQ(document.status().code(), StatusCode::kMalformedFile);
    EXPECT_EQ(document.status().message().substr(0, 11), "config.json");
  }
}

TEST(Json, RefusesDeepNestingWithoutOverflow) {
  const std::string deep = std::string(1000000, '[');
  EXPECT_FALSE(JsonDocument::Parse(deep).ok());
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_FALSE(JsonDocument::Parse(objects).ok());
  EXPECT_TRUE(JsonDocument::Parse(std::string(256, '[') + std::string(256, ']')).ok());
  const Status deeper = JsonDocument::Parse(std::string(257, '[') + std::string(257, ']')).status();
  EXPECT_NE(deeper.message().find("nested deeper than 256"), std::string::npos);
  const Status other = JsonDocument::Parse(std::string(256, '[') + "x").status();
  EXPECT_EQ(other.message().find("nested"), std::string::npos) << other.message();
}

TEST(JsonWriter, WhatIsNotFiniteIsNullAndTold) {
  std::string out;
  JsonWriter writer(&out);
  writer.BeginArray();
  writer.Double(1e308);
  writer.Null();
  EXPECT_TRUE(writer.all_finite());
  writer.Double(std::numeric_limits<double>::infinity());
  writer.Double(0);
  writer.EndArray();
  EXPECT_FALSE(writer.all_finite());
  EXPECT_EQ(out, "[1e+308,null,null,0]");
}

TEST(JsonWriter, WritesNestedValues) {
  std::string out;
  JsonWriter writer(&out);
  writer.BeginObject();
  writer.Key("a\"");
  writer.BeginArray();
  writer.Int(1);
  writer.Double(0.1);
  writer.String("x\n\\");
  writer.EndArray();
  writer.Key("b");
  writer.BeginObject();
  writer.EndObject();
  writer.Key("c");
  writer.Bool(false);
  writer.EndObject();
  EXPECT_EQ(out, "{\"a\\\"\":[1,0.10000000000000001,\"x\\u000a\\\\\"],\"b\":{},\"c\":false}");
}

}  // namespace
}  // namespace peruse
