#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace peruse {

using ReadModelFile = std::function<std::optional<std::string_view>(const std::string& path)>;

}  // namespace peruse
