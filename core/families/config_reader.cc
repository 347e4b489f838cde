#include "core/families/config_reader.h"

#include <utility>

#include "core/base/decimal.h"

namespace peruse {
namespace {

constexpr size_t kLongestQuote = 100;

std::string Quote(JsonValue value) {
  std::string text = value.ToString();
  if (text.size() > kLongestQuote) text = text.substr(0, kLongestQuote) + "...";
  return text;
}

}  // namespace

JsonValue ConfigReader::Field(std::string_view field) const {
  const JsonValue value = root_.FindMember(field);
  return value.IsNull() ? JsonValue() : value;
}

void ConfigReader::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void ConfigReader::Refuse(std::string_view field, std::string_view must) {
  Fail(MalformedFile("config.json: " + std::string(field) + " is " + Quote(root_.FindMember(field)) + "; it " +
                     std::string(must)));
}

int32_t ConfigReader::Int(std::string_view field, int32_t fallback, int32_t least, int32_t most) {
  const JsonValue value = Field(field);
  if (!value.exists()) return fallback;
  const std::optional<int64_t> number = value.GetInt64();
  if (number && *number >= least && *number <= most) return static_cast<int32_t>(*number);
  Refuse(field, "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return fallback;
}

float ConfigReader::Float(std::string_view field, float fallback, float least, float most) {
  const JsonValue value = Field(field);
  if (!value.exists()) return fallback;
  const std::optional<double> number = value.GetDouble();
  if (number && *number >= least && *number <= most) return static_cast<float>(*number);
  Refuse(field,
         "must be a number from " + DoubleToDecimal(double{least}, 6) + " to " + DoubleToDecimal(double{most}, 6));
  return fallback;
}

bool ConfigReader::Bool(std::string_view field, bool fallback) {
  const JsonValue value = Field(field);
  if (!value.exists()) return fallback;
  if (const std::optional<bool> truth = value.GetBool()) return *truth;
  Refuse(field, "must be true or false");
  return fallback;
}

std::string ConfigReader::String(std::string_view field, std::string_view fallback) {
  const JsonValue value = Field(field);
  if (!value.exists()) return std::string(fallback);
  if (const std::optional<std::string_view> text = value.GetString()) return std::string(*text);
  Refuse(field, "must be a string");
  return std::string(fallback);
}

Activation ConfigReader::ActivationOf(std::string_view field, Activation fallback) {
  const JsonValue value = Field(field);
  if (!value.exists()) return fallback;
  const std::optional<std::string_view> name = value.GetString();
  if (!name) {
    Refuse(field, "must be the name of an activation function");
    return fallback;
  }
  if (const std::optional<Activation> activation = ParseActivation(*name)) return *activation;
  Fail(Unsupported("config.json: " + std::string(field) + " is " + Quote(value) +
                   ", an activation function that Peruse does not have"));
  return fallback;
}

}  // namespace peruse
