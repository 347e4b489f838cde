// The files of a model's folder, as tasks read them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace peruse {

// The content of a file by its path; nothing if there is no such file.
using ReadModelFile = std::function<std::optional<std::string_view>(const std::string& path)>;

}  // namespace peruse
