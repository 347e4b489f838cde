// Reads configurations in tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/families/family.h"

namespace peruse::testing {

// Returns an empty configuration, and fails the test, if it is refused.
inline ModelConfig Parse(const std::string& json) {
  Result<ConfiguredFamily> family = ReadFamily(json);
  EXPECT_TRUE(family.ok()) << json << ": " << family.status().message();
  return family.ok() ? std::move(family->config) : ModelConfig();
}

inline Program EncoderOf(const std::string& json) {
  Program program;
  Parameters parameters;
  Result<ConfiguredFamily> family = ReadFamily(json);
  EXPECT_TRUE(family.ok()) << json << ": " << family.status().message();
  if (!family.ok()) return program;
  Build b(program, parameters, Precision::kF32);
  family->family->Encode(b, family->config);
  return program;
}

// Returns the operations of a kind.
template <typename AnyOp>
std::vector<AnyOp> All(const Program& program) {
  std::vector<AnyOp> found;
  for (const Op& op : program.ops) {
    if (const auto* one = std::get_if<AnyOp>(&op)) found.push_back(*one);
  }
  return found;
}

// Returns the number of heads and their width.
inline std::pair<int32_t, int32_t> HeadsOf(const Program& program) {
  const ops::Attention attention = All<ops::Attention>(program).at(0);
  return {attention.heads, program.info(attention.query).cols.factor / attention.heads};
}

inline void ExpectError(const std::string& json, StatusCode code, const std::string& part) {
  const Result<ConfiguredFamily> config = ReadFamily(json);
  ASSERT_FALSE(config.ok()) << json;
  EXPECT_EQ(StatusCodeName(config.status().code()), StatusCodeName(code)) << config.status().message();
  EXPECT_NE(config.status().message().find(part), std::string::npos) << config.status().message();
}

// Returns the text of a config.json with a model type and other fields.
inline std::string Of(const std::string& type, const std::string& fields) {
  return R"({"model_type":")" + type + "\"" + (fields.empty() ? "" : "," + fields) + "}";
}

}  // namespace peruse::testing
