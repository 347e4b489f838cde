#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peruse {

std::string Quoted(std::string_view text);

using JsonMembers = std::vector<std::pair<std::string, std::string>>;

// Returns `json`, a valid object, with these members replaced, added or removed. Copies all other members unchanged.
std::string WithMembers(std::string_view json, const JsonMembers& members);

}  // namespace peruse
