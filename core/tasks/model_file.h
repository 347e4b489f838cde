#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace peruse {

// Returns the content of the file at a path, or nullopt.
using ReadModelFile = std::function<std::optional<std::string_view>(const std::string& path)>;

}  // namespace peruse
