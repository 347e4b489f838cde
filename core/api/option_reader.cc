#include "core/api/option_reader.h"

#include <algorithm>
#include <utility>

namespace peruse {

void OptionReader::Fail(std::string_view name, std::string_view expected) {
  if (!status_.ok()) return;
  status_ = InvalidArgument("option " + std::string(name) + " must be " + std::string(expected) + ", not " +
                            Member(name).ToString());
}

void OptionReader::Read(std::string_view name, int32_t minimum, int32_t* value) {
  std::optional<int64_t> read = Member(name).GetInt64();
  if (read && (*read < minimum || *read > INT32_MAX)) read.reset();
  Take(name, "an integer of at least " + std::to_string(minimum), read, value);
}

void OptionReader::Read(std::string_view name, std::vector<std::string>* value) {
  std::optional<std::vector<std::string>> read;
  if (Member(name).IsArray()) read.emplace();
  for (JsonValue item : Member(name)) {
    const std::optional<std::string_view> text = item.GetString();
    if (!text) return Fail(name, "a list of strings");
    read->emplace_back(*text);
  }
  Take(name, "a list of strings", read, value);
}

void OptionReader::Read(std::string_view name, std::vector<int32_t>* value) {
  std::optional<std::vector<int32_t>> read;
  if (Member(name).IsArray()) read.emplace();
  for (JsonValue item : Member(name)) {
    const std::optional<int64_t> number = item.GetInt64();
    if (!number || *number < INT32_MIN || *number > INT32_MAX) return Fail(name, "a list of integers");
    read->push_back(static_cast<int32_t>(*number));
  }
  Take(name, "a list of integers", read, value);
}

std::optional<int32_t> OptionReader::Choice(std::string_view name, std::span<const std::string_view> names) {
  std::string expected;
  for (size_t i = 0; i < names.size(); ++i) {
    if (Member(name).GetString() == names[i]) return static_cast<int32_t>(i);
    expected += (i == 0 ? "\"" : i + 1 < names.size() ? ", \"" : " or \"") + std::string(names[i]) + "\"";
  }
  if (Member(name).exists()) Fail(name, expected);
  return std::nullopt;
}

void OptionReader::ReadText(std::string_view name, std::string* value) {
  const std::optional<std::string_view> text = Member(name).GetString();
  if (text) {
    *value = std::string(*text);
  } else if (status_.ok()) {
    status_ = InvalidArgument("an input lacks the string \"" + std::string(name) + "\"");
  }
}

}  // namespace peruse
