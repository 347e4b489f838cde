#include "core/base/json_members.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/json_writer.h"

namespace peruse {

std::string Quoted(std::string_view text) {
  std::string json;
  JsonWriter(&json).String(text);
  return json;
}

std::string WithMembers(std::string_view json_text, const JsonMembers& members) {
  std::string json = "{";
  const auto add = [&json](std::string_view name, std::string_view value) {
    json += (json.size() > 1 ? ",\n  " : "\n  ") + Quoted(name) + ": " + std::string(value);
  };
  const JsonDocument document = std::move(JsonDocument::Parse(json_text, "the object").value());
  for (size_t i = 0; i < document.root().size(); ++i) {
    const std::string_view name = document.root().MemberName(i);
    const auto is_own = [&](const auto& member) { return member.first == name; };
    if (std::none_of(members.begin(), members.end(), is_own)) add(name, document.root().MemberValue(i).ToString());
  }
  for (const auto& [name, value] : members) {
    if (!value.empty()) add(name, value);
  }
  return json + "\n}\n";
}

}  // namespace peruse
