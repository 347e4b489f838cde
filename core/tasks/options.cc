#include "core/tasks/options.h"

#include <utility>

namespace peruse {
namespace {

Status BadOption(std::string_view name, std::string_view expected, JsonValue found) {
  return InvalidArgument("option " + std::string(name) + " must be " + std::string(expected) + ", not " +
                         found.ToString());
}

}  // namespace

Status ReadOption(JsonValue options, std::string_view name, bool* value) {
  const JsonValue option = options.FindMember(name);
  if (!option.exists()) return OkStatus();
  const std::optional<bool> read = option.GetBool();
  if (!read) return BadOption(name, "true or false", option);
  *value = *read;
  return OkStatus();
}

Status ReadOption(JsonValue options, std::string_view name, int32_t minimum, int32_t* value) {
  const JsonValue option = options.FindMember(name);
  if (!option.exists()) return OkStatus();
  const std::optional<int64_t> read = option.GetInt64();
  if (!read || *read < minimum || *read > INT32_MAX) {
    return BadOption(name, "an integer of at least " + std::to_string(minimum), option);
  }
  *value = static_cast<int32_t>(*read);
  return OkStatus();
}

Status ReadOption(JsonValue options, std::string_view name, std::string* value) {
  const JsonValue option = options.FindMember(name);
  if (!option.exists()) return OkStatus();
  const std::optional<std::string_view> read = option.GetString();
  if (!read) return BadOption(name, "a string", option);
  *value = std::string(*read);
  return OkStatus();
}

Status ReadOption(JsonValue options, std::string_view name, std::vector<std::string>* value) {
  const JsonValue option = options.FindMember(name);
  if (!option.exists()) return OkStatus();
  if (!option.IsArray()) return BadOption(name, "a list of strings", option);
  std::vector<std::string> read;
  for (JsonValue item : option) {
    const std::optional<std::string_view> text = item.GetString();
    if (!text) return BadOption(name, "a list of strings", option);
    read.emplace_back(*text);
  }
  *value = std::move(read);
  return OkStatus();
}

Result<std::string_view> ReadText(JsonValue input, std::string_view name) {
  const std::optional<std::string_view> text = input.FindMember(name).GetString();
  if (!text) return InvalidArgument("an input lacks the string \"" + std::string(name) + "\"");
  return *text;
}

}  // namespace peruse
