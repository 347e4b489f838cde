// Changing members of a JSON object without reading the others.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace peruse {

// A string as JSON, in quotes.
std::string Quoted(std::string_view text);

// Names and values; an empty value removes the member.
using JsonMembers = std::vector<std::pair<std::string, std::string>>;

// The object with these members in place of its own of these names. `json` is a valid object.
std::string WithMembers(std::string_view json, const JsonMembers& members);

}  // namespace peruse
