// Changes members of a JSON object and leaves the others unread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peruse {

std::string Quoted(std::string_view text);

// Names and JSON values; an empty value removes the member.
using JsonMembers = std::vector<std::pair<std::string, std::string>>;

// Returns `json`, a valid object, with these members replaced, added or removed.
std::string WithMembers(std::string_view json, const JsonMembers& members);

}  // namespace peruse
